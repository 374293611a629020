import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { itWith } from '../support/skipping.js'
import { answering, CURL_ONCE_READABLE, freePort, pageOf } from './pages.js'
import { run } from './run-program.js'

const blocks = pageOf('first-webhook.md')
const [starting, , making, testing, automating, verifying, listing] = blocks('sh')
const [receiver] = blocks('js')

const itWithTools = itWith('curl', 'openssl')

describe('the page on the first webhook', () => {
  let service: RunningService
  let directory: string
  let receiving: ChildProcess
  let port: number

  before(async () => {
    const [, name, value] = /^(\w+)=(\S+) npm start\n$/.exec(starting!) ?? []
    service = await startRunningService({ [name!]: value! })
    directory = await mkdtemp(join(tmpdir(), 'tallytree-first-webhook-'))
    await writeFile(join(directory, 'receiver.mjs'), receiver!)
    port = await freePort()
    receiving = spawn(process.execPath, ['receiver.mjs'], {
      cwd: directory,
      env: { ...process.env, PORT: String(port) },
      stdio: 'ignore',
    })
    await answering(`http://127.0.0.1:${port}`)
  })
  after(async () => {
    receiving.kill()
    await service.remove()
    await rm(directory, { recursive: true, force: true })
  })

  /** All that was pasted so far is pasted again: the shell's variables and functions have to be there. */
  const paste = async (...pasted: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(
      'bash',
      ['-euo', 'pipefail', '-c', [CURL_ONCE_READABLE, ...pasted].join('\n')],
      directory,
      {
        TALLYTREE_URL: service.address,
        TALLYTREE_API_KEY: service.key,
        RECEIVER_URL: `http://127.0.0.1:${port}`,
      },
    )
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    return stdout
  }
  const received = () => readFile(join(directory, 'message.json'), 'utf8').catch(() => '')

  itWithTools('ends with the delivery and its attempt if all commands are pasted in one go', async () => {
    const told = await paste(making!, testing!, automating!, verifying!, listing!)

    assert.match(told, /"status":200[^\n]*"body":"thank you"/)
    assert.equal(await received(), '{"version": "acme/models/classifier:production", "accuracy": 0.93}')
    const [, computed, sent] = /= ?([0-9a-f]{64})\n([0-9a-f]{64})$/m.exec(told) ?? []
    assert.ok(computed !== undefined && computed === sent, 'openssl agrees with the signature')
    const delivery = JSON.parse(told.trim().split('\n').at(-1)!) as {
      state: string
      attempts: readonly { outcome: string; status: number }[]
    }
    assert.equal(delivery.state, 'succeeded')
    assert.deepEqual(
      delivery.attempts.map(({ outcome, status }) => [outcome, status]),
      [['succeeded', 200]],
    )
  })
})
