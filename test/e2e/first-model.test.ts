import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled, ROOT } from '../support/compiled.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { itWith } from '../support/skipping.js'
import { CURL_ONCE_READABLE, pageOf } from './pages.js'
import { run } from './run-program.js'

const [, ...blocks] = pageOf('first-model.md')('sh')

describe('the page on a first model', () => {
  let service: RunningService
  let directory: string
  before(async () => {
    service = await startRunningService()
    directory = await mkdtemp(join(tmpdir(), 'tallytree-first-model-'))
  })
  after(async () => {
    await service.remove()
    await rm(directory, { recursive: true, force: true })
  })

  itWith('curl')('ends with the answer that was learned if all commands are pasted in one go', async () => {
    const npm = `npm() { shift 4; ${process.execPath} ${join(ROOT, await compiled('cli'))} "$@"; }`
    const { code, stdout, stderr } = await run(
      'bash',
      ['-euo', 'pipefail', '-c', [CURL_ONCE_READABLE, npm, ...blocks].join('\n')],
      directory,
      { TALLYTREE_URL: service.address, TALLYTREE_API_KEY: service.key },
    )
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout)
    assert.match(stdout, /^step 80 of 80: loss 0\.0/m)
    assert.match(stdout, /^succeeded$/m)
    assert.match(stdout.trim(), /\{ role: 'assistant', content: 'pong', refusal: null \}$/)
  })
})
