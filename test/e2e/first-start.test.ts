import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { endWithThisProcess } from '../support/end-with-this-process.js'
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
        `Tallytree cannot start: cannot listen at 127.0.0.1:${port}: the address is already in use; stop the other program or set ` +
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

describe('npm start', () => {
  it('passes a signal on, so that the service ends with npm', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tallytree-npm-start-'))
    try {
      const npm = spawn('npm', ['start', '--silent'], {
        env: { ...process.env, TALLYTREE_DATA_DIR: directory, TALLYTREE_PORT: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      endWithThisProcess(npm)
      let said = ''
      // Its output ends when nobody can write it any more: npm, and the service.
      for await (const text of npm.stdout.setEncoding('utf8') as AsyncIterable<string>) {
        said += text
        if (said.includes('Tallytree is ready')) npm.kill('SIGTERM')
      }
      assert.match(said, /Tallytree is ready/)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
})
