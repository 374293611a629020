import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { openBucketLog } from '../../../../src/adapters/log-tree/bucket-log-tree.js'
import { systemClock } from '../../../../src/adapters/system/system.js'
import { openHealth, type Health } from '../../../../src/application/health.js'
import { startSealing, type Sealing } from '../../../../src/application/audit/sealing.js'
import type { Bucket } from '../../../../src/kernel/ports/bucket.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { parseProof } from '../../../../src/kernel/tlog/entries.js'
import { leafHash, rootAt, rootOfPath, withTiles } from '../../../../src/kernel/tlog/merkle.js'
import {
  openNote,
  parseCheckpoint,
  parseVerifierKey,
  type Checkpoint,
} from '../../../../src/kernel/tlog/note.js'
import { arbitraryEvent, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { openedBucket } from '../../../support/buckets.js'
import { startS3Double, type S3Double } from '../../../support/s3-double.js'
import { until } from '../../../support/until.js'
import { ringOf, someKey } from '../../adapters/secrets/given.js'

describe('sealing the log in a bucket', () => {
  let double: S3Double
  let store: EventStore
  const ring = ringOf(someKey('one'))
  const running: { readonly sealing: Sealing; readonly bucket: Bucket }[] = []

  beforeEach(async () => {
    double = await startS3Double()
    store = openInMemoryEventStore()
  })
  afterEach(async () => {
    double.haveNoFault()
    for (const { sealing, bucket } of running.splice(0)) {
      await sealing.stop()
      bucket.close()
    }
    await double.stop()
  })

  const write = async (count: number, to = store) => {
    for (let n = 0; n < count; n += 1) await to.append(arbitraryStream(), 'none', [arbitraryEvent()])
  }
  const quiet = { info: () => undefined, error: () => undefined }
  const start = async (
    eventStore = store,
    health: Pick<Health, 'report'> = openHealth(quiet),
  ): Promise<Sealing> => {
    const bucket = await openedBucket(double.url)
    const { tree, keys } = await openBucketLog(bucket, ring, 'traces.example')
    const ports = { eventStore, tree, keys, clock: systemClock, log: quiet, health }
    const sealing = await startSealing(ports)
    running.push({ sealing, bucket })
    return sealing
  }
  const checkpointOf = (sealing: Sealing): Checkpoint | undefined => {
    const note = sealing.checkpoint()?.note
    return note === undefined ? undefined : parseCheckpoint(note)
  }
  /** Every checkpoint is one of the tree as it is now. */
  const requireContinued = async (seen: readonly Checkpoint[]) => {
    const bucket = await openedBucket(double.url)
    const { tree } = await openBucketLog(bucket, ring, 'traces.example')
    for (const { size, root } of seen)
      assert.ok(root.equals(await withTiles(tree.tile, (read) => rootAt(size, read))), `size ${size}`)
    bucket.close()
  }

  it('has the same checkpoints in all processes, each of which proves every event', async () => {
    const [one, other] = [await start(), await start()]
    await write(300)
    await until(() => [one, other].every((sealing) => sealing.checkpoint()?.size === 300))
    assert.equal(one.checkpoint()!.note, other.checkpoint()!.note)
    assert.deepEqual(await one.checkpoints(), await other.checkpoints())
    const keys = other.verifierKeys().map(parseVerifierKey)
    const { size, root } = parseCheckpoint(openNote(other.checkpoint()!.note, keys).text)
    for await (const { position } of store.readAll()) {
      const { entry, path, index } = parseProof((await other.proof(position))!)!
      assert.deepEqual(rootOfPath(leafHash(entry), index, size, path), root)
    }
    assert.ok((await other.entries(1, 44))!.length > 44)
    assert.equal(await other.tile(0, 1, 45), undefined)
  })

  it('continues every earlier checkpoint when processes start, end and meet faults at random', async () => {
    const seen = new Map<string, Checkpoint>()
    const collect = () => {
      for (const { sealing } of running) {
        const latest = checkpointOf(sealing)
        if (latest !== undefined) seen.set(`${latest.size} ${latest.root.toString('base64')}`, latest)
      }
    }
    for (let round = 0; round < 6; round += 1) {
      await start()
      if (round % 2 === 1)
        double.have({ kind: 'error after the bytes' }, { method: /PUT/, path: /log/, times: 3 })
      if (round % 3 === 1)
        double.have({ kind: 'late answer', ms: 300 }, { method: /PUT/, path: /head/, times: 2 })
      for (let n = 0; n < 10; n += 1) {
        await write(30)
        await sleep(50)
        collect()
      }
      if (round % 2 === 0) await running[0]!.sealing.stop()
      if (round % 2 === 0) running.shift()!.bucket.close()
    }
    await start()
    await until(() => running.at(-1)!.sealing.checkpoint()?.size === 1800, 30_000)
    collect()
    assert.ok(seen.size > 3)
    await requireContinued([...seen.values()])
  }).timeout(90_000)

  it('says that the bucket is away, and seals what was written meanwhile once it is back', async () => {
    const health = openHealth(quiet)
    const sealing = await start(store, health)
    await write(10)
    await until(() => sealing.checkpoint()?.size === 10)
    double.have({ kind: 'error', status: 403, code: 'ExpiredToken' })
    await write(10)
    await until(() => health.reason('log-tree') !== undefined)
    assert.match(
      health.reason('log-tree')!,
      /^new events are not sealed \(the bucket failed: the credentials have expired/,
    )
    assert.equal(sealing.checkpoint()?.size, 10)
    double.haveNoFault()
    await until(() => sealing.checkpoint()?.size === 20)
    assert.equal(health.reason('log-tree'), undefined)
  })

  it('refuses a log that lacks its end, and another log', async () => {
    await write(20)
    const sealing = await start()
    await until(() => sealing.checkpoint()?.size === 20)
    const [shorter, other] = [openInMemoryEventStore(), openInMemoryEventStore()]
    await write(12, shorter)
    await write(30, other)
    await assert.rejects(start(shorter), /has 12 events, but the tree in the bucket has 20 leaves/)
    await assert.rejects(start(other), /event 19 of the event log is not the one that was sealed/)
  })
})
