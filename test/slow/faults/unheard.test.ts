import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled, ROOT } from '../../support/compiled.js'
import { endWithThisProcess } from '../../support/end-with-this-process.js'
import { itWhen } from '../../support/skipping.js'

const KEY = 'administrator-key-of-this-test'
const FULL = '/dev/full'
const itWithFull = itWhen(existsSync(FULL), `${FULL} is missing`)

describe('a service that nobody hears', () => {
  let directory: string
  let child: ChildProcess
  let full: number | undefined
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'tallytree-unheard-'))))
  afterEach(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit')
    if (full !== undefined) closeSync(full)
    full = undefined
    await rm(directory, { recursive: true })
  })

  /** Waits for the ready line, and answers the address in it. */
  const start = async (stderr: 'pipe' | number): Promise<string> => {
    child = spawn(process.execPath, [await compiled('main')], {
      cwd: ROOT,
      env: {
        PATH: process.env['PATH'],
        TALLYTREE_PORT: '0',
        TALLYTREE_DATA_DIR: directory,
        TALLYTREE_BOOTSTRAP_API_KEY: KEY,
        TALLYTREE_STOP_SECONDS: '120',
        UV_THREADPOOL_SIZE: '12',
      },
      stdio: ['ignore', 'pipe', stderr],
    })
    endWithThisProcess(child)
    let said = ''
    for await (const text of child.stdout!) {
      said += String(text)
      const address = /^Tallytree is ready at (\S+)$/m.exec(said)?.[1]
      if (address !== undefined) return address
    }
    throw new Error(`the program ended before it was ready: ${said}`)
  }

  /** So large that part of it becomes a blob. */
  const startCall = async (address: string, id: string): Promise<number> => {
    const inputs = { text: id.repeat(400_000) }
    const call = { project_id: 'default/unheard', id, op_name: 'op', started_at: '2026-01-01T12:00:00Z' }
    const response = await fetch(`${address}/call/start`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ start: { ...call, attributes: {}, inputs } }),
    })
    await response.text()
    return response.status
  }

  const blobsAreAway = (how: boolean) => {
    const names = ['blobs', 'blobs-away'].map((name) => join(directory, name)) as [string, string]
    return how ? rename(...names) : rename(names[1], names[0])
  }

  /** Each change is told in a line that cannot be written. */
  const goesOn = async (address: string) => {
    const statuses = [await startCall(address, 'a')]
    for (const id of ['b', 'c']) {
      await blobsAreAway(true)
      statuses.push(await startCall(address, id))
      await blobsAreAway(false)
      statuses.push(await startCall(address, id))
    }
    assert.deepEqual(statuses, [200, 503, 200, 503, 200])
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  }

  it('goes on when whoever read what it says has gone', async () => {
    const address = await start('pipe')
    child.stdout?.destroy()
    child.stderr?.destroy()
    await goesOn(address)
  })

  itWithFull('goes on when the disk is full on which its log lies', async () => {
    full = openSync(FULL, 'w')
    await goesOn(await start(full))
  })
})
