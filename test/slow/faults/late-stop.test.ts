import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRunningService, type RunningService } from '../../support/running-service.js'

/** A server that never says that it is closed. */
const HANGING = "require('node:net').Server.prototype.close = function () { return this }"

describe('a program that cannot stop', () => {
  let directory: string
  let service: RunningService
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-late-stop-'))
    await writeFile(join(directory, 'hanging.cjs'), HANGING)
    service = await startRunningService({
      NODE_OPTIONS: `--require ${join(directory, 'hanging.cjs')}`,
      TALLYTREE_STOP_SECONDS: '10',
    })
  })
  after(async () => {
    await service.remove()
    await rm(directory, { recursive: true })
  })

  it('is killed in time, says so and what to do, and has at the next start what it acknowledged', async () => {
    const { status } = await service.in('default/late').calls.start({ id: 'call' })
    assert.equal(status, 200)

    assert.deepEqual(await service.kill('SIGTERM'), { code: null, signal: 'SIGKILL' })
    assert.match(
      service.output(),
      /did not stop within 10 s and is killed\. No acknowledged write is lost\..* TALLYTREE_STOP_SECONDS\./,
    )

    await service.restart({ NODE_OPTIONS: '' })
    assert.equal((await service.post('/call/read', { project_id: 'default/late', id: 'call' })).status, 200)
    assert.equal(await service.stop(), 0)
  })
})
