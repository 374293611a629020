import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { startRunningService } from '../support/running-service.js'
import { run } from './run-program.js'

describe('a first start that fails', () => {
  it('says why in a sentence, and shows the key that it made, which is valid from then on', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tallytree-first-start-'))
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    try {
      const { port } = taken.address() as AddressInfo
      const settings = { TALLYTREE_DATA_DIR: directory, TALLYTREE_PORT: String(port) }
      const { code, stdout, stderr } = await run('npm', ['start', '--silent'], process.cwd(), settings)
      assert.equal(code, 1)
      assert.equal(
        stderr,
        `Tallytree cannot start: cannot listen at 127.0.0.1:${port}: something else listens there; stop it, or set ` +
          'TALLYTREE_PORT\n',
      )
      const [, key] =
        /^Tallytree was set up, administrator's API key \(shown this once\): (\S+)\n$/.exec(stdout) ?? []
      const service = await startRunningService({
        TALLYTREE_DATA_DIR: directory,
        TALLYTREE_BOOTSTRAP_API_KEY: key!,
      })
      const answer = await service.send('GET', '/api/users/me', undefined, { key: key! })
      await service.remove()
      assert.deepEqual([answer.status, answer.json()['administrator']], [200, true])
    } finally {
      taken.close()
      await rm(directory, { recursive: true, force: true })
    }
  })
})
