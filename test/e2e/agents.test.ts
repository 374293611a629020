import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { itWhen } from '../support/skipping.js'
import { TEXT } from '../support/upstreams/all-apis.js'
import { JS_PROGRAMS, startAgentsService, type AgentsService } from './agents-page.js'

/** What each program of the page prints, by the package that it imports first. */
const PRINTED: Readonly<Record<string, readonly string[]>> = {
  openai: [TEXT, '2'],
  '@anthropic-ai/sdk': [TEXT],
  '@ai-sdk/anthropic': [TEXT, TEXT],
}

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))

describe('the page on agents and SDKs', () => {
  let agents: AgentsService
  before(async () => {
    agents = await startAgentsService()
    await symlink(MODULES, join(agents.directory, 'node_modules'))
  })
  after(() => agents.stop())

  it('makes upstreams that speak the APIs of two providers', () => {
    assert.match(agents.printed, /"apis":\["responses","chat","embeddings"\]/)
    assert.match(agents.printed, /"apis":\["messages"\]/)
  })

  for (const { packages, text } of JS_PROGRAMS) {
    const missing = packages.find((name) => !existsSync(join(MODULES, name)))
    itWhen(missing === undefined, `${missing} is not installed`)(
      `has a program that answers with ${packages.join(' and ')}`,
      async () => {
        const { code, stdout, stderr } = await agents.run(process.execPath, 'program.mjs', text)
        const printed = PRINTED[packages[0]!]!.map((line) => `${line}\n`).join('')
        assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: printed, stderr: '' })
      },
    )
  }
})
