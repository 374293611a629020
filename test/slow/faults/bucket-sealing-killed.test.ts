import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBucketLog } from '../../../src/adapters/log-tree/bucket-log-tree.js'
import { openKeyRing } from '../../../src/adapters/secrets/key-ring.js'
import { rootAt, withTiles } from '../../../src/kernel/tlog/merkle.js'
import { parseCheckpoint, type Checkpoint } from '../../../src/kernel/tlog/note.js'
import { COUNTS } from '../../counts.js'
import { openedBucket } from '../../support/buckets.js'
import { startClickHouseFront, type ClickHouseFront } from '../../support/clickhouse-http-front.js'
import { arbitraryDatabase } from '../../support/engine.js'
import { startChildDouble, type ChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import { writeSteadily } from '../../support/faults/write-steadily.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { startS3Double, type S3Double } from '../../support/s3-double.js'
import { scratchDirectory } from '../../support/scratch.js'
import { until } from '../../support/until.js'

const ROUNDS = COUNTS.sealingKills
const PROJECT = 'default/sealed'
const MAX_WAIT_MS = 4000
const MASTER_KEY = randomBytes(32).toString('base64')

describe('kill -9 of two services that seal one log in a bucket', () => {
  let s3: S3Double
  let log: ChildDouble
  let front: ClickHouseFront
  const running: RunningService[] = []
  before(async () => {
    s3 = await startS3Double()
    log = await startChildDouble(join(await scratchDirectory(), 'double.log'))
    front = await startClickHouseFront()
    const environment = {
      EVENTSTORE_URL: log.url,
      CLICKHOUSE_URL: `${front.url}/${arbitraryDatabase()}`,
      TALLYTREE_OBJECTS_URL: s3.url,
      TALLYTREE_MASTER_KEYS: `one:${MASTER_KEY}`,
      TALLYTREE_BOOTSTRAP_API_KEY: 'administrator-key-of-the-tests',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
    }
    running.push(await startRunningService(environment))
    running.push(await startRunningService({ ...environment, TALLYTREE_ROLES: 'api' }))
  })
  after(async () => {
    for (const service of running) await service.remove()
    await log.kill()
    await front.stop()
    await s3.stop()
  })

  const checkpointOf = async (service: RunningService): Promise<Checkpoint | undefined> => {
    const answer = await service.send('GET', '/api/log/checkpoint').catch(() => undefined)
    return answer?.status === 200 ? parseCheckpoint(answer.text) : undefined
  }

  /** Asks both for checkpoints without a break. */
  const collect = () => {
    const seen: Checkpoint[] = []
    let isOver = false
    const ask = async (service: RunningService) => {
      while (!isOver) {
        const latest = await checkpointOf(service)
        if (latest !== undefined) seen.push(latest)
        await sleep(20)
      }
    }
    const asking = Promise.all(running.map(ask))
    return {
      seen,
      stop: async () => {
        isOver = true
        await asking
      },
    }
  }

  it(`signs nothing that contradicts an earlier checkpoint in ${ROUNDS} rounds with empty directories`, async () => {
    const writer = writeSteadily(running[0]!, PROJECT)
    const collected = collect()
    for (let round = 0; round < ROUNDS; round += 1) {
      await sleep(Math.random() * MAX_WAIT_MS)
      const service = running[round % 2]!
      await service.kill('SIGKILL')
      await rm(service.dataDirectory, { recursive: true })
      await mkdir(service.dataDirectory)
      await service.restart()
    }
    await writer.stop()
    const events = (await running[0]!.send('GET', '/api/events')).text.trimEnd().split('\n').length
    for (const service of running)
      await until(async () => ((await checkpointOf(service))?.size ?? 0) >= events)
    await collected.stop()

    const bucket = await openedBucket(s3.url)
    const ring = openKeyRing([{ id: 'one', base64: MASTER_KEY }], 'no-file')
    const { tree } = await openBucketLog(bucket, ring, 'localhost')
    const roots = new Map<string, Checkpoint>()
    for (const one of collected.seen) roots.set(`${one.size} ${one.root.toString('base64')}`, one)
    for (const { size, root } of roots.values())
      assert.ok(root.equals(await withTiles(tree.tile, (read) => rootAt(size, read))), `size ${size}`)
    bucket.close()
    const { count } = (await running[0]!.post('/calls/query_stats', { project_id: PROJECT })).json<{
      count: number
    }>()
    assert.equal(count, writer.written())
    console.log(`      ${ROUNDS} rounds: ${roots.size} checkpoints, the last of ${tree.size()} events`)
  })
})
