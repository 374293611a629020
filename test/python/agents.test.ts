import assert from 'node:assert/strict'
import { PYTHON_PROGRAMS, startAgentsService, type AgentsService } from '../e2e/agents-page.js'
import { itWhen } from '../support/skipping.js'
import { TEXT } from '../support/upstreams/all-apis.js'
import { pythonIn } from './python-sdk.js'

describe('the Python programs of the page on agents and SDKs', () => {
  let agents: AgentsService
  before(async () => {
    agents = await startAgentsService()
  })
  after(() => agents.stop())

  for (const { packages, text } of PYTHON_PROGRAMS)
    itWhen(!text.includes('llama_index'), 'LlamaIndex needs an older package openai')(
      `answer with ${packages.join(' and ')}`,
      async () => {
        const { code, stdout, stderr } = await agents.run(pythonIn('.venv-agents'), 'program.py', text)
        assert.equal(code, 0, stderr)
        assert.deepEqual([...new Set(stdout.trim().split('\n'))], [TEXT])
      },
    )
})
