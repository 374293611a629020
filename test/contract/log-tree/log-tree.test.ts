import assert from 'node:assert/strict'
import { join } from 'node:path'
import {
  changeHead,
  keysTextIn,
  readHead,
  reencryptBucketLogKeys,
  sealedKeys,
} from '../../../src/adapters/log-tree/head-object.js'
import { openBucketLog } from '../../../src/adapters/log-tree/bucket-log-tree.js'
import { openSqliteLogTree } from '../../../src/adapters/log-tree/sqlite-log-tree.js'
import { rotatedLogKeys } from '../../../src/adapters/secrets/log-keys.js'
import type { Bucket } from '../../../src/kernel/ports/bucket.js'
import { LogTreeChanged, type LogTree } from '../../../src/kernel/ports/log-tree.js'
import { openedBucket } from '../../support/buckets.js'
import { startS3Double, type S3Double } from '../../support/s3-double.js'
import { scratchDirectory } from '../../support/scratch.js'
import { ringOf, someKey } from '../../unit/adapters/secrets/given.js'
import { checkpointOf, continued, logTreeContract, saveUpTo } from './log-tree-contract.js'

describe('the tree of the log in SQLite', () => {
  logTreeContract(async () => {
    const path = join(await scratchDirectory(), 'log-tree.db')
    let tree: LogTree | undefined
    return {
      open: async () => {
        tree?.close()
        return (tree = openSqliteLogTree(path))
      },
      dispose: async () => tree?.close(),
    }
  })
})

describe('the tree of the log in a bucket', () => {
  let double: S3Double
  let bucket: Bucket
  const ring = ringOf(someKey('one'))
  const open = () => openBucketLog(bucket, ring, 'traces.example')
  beforeEach(async () => {
    double = await startS3Double()
    bucket = await openedBucket(double.url)
  })
  afterEach(async () => {
    bucket.close()
    await double.stop()
  })

  logTreeContract(async () => ({ open: async () => (await open()).tree, dispose: async () => undefined }))

  it('takes a step of one of two processes, and the other one continues it', async () => {
    const [one, other] = [(await open()).tree, (await open()).tree]
    await saveUpTo(one, await continued(one), 300)
    await assert.rejects(saveUpTo(other, await continued(other), 301), LogTreeChanged)
    assert.equal(other.size(), 300)
    await saveUpTo(other, await continued(other), 600)
    assert.equal(await one.refresh!(), true)
    assert.equal(await one.refresh!(), false)
    assert.equal(one.size(), 600)
    assert.deepEqual(one.latest(), checkpointOf(600))
  })

  it('lets one of many that save at once win', async () => {
    const trees = await Promise.all(Array.from({ length: 8 }, open))
    const saved = await Promise.allSettled(
      trees.map(async ({ tree }, n) => saveUpTo(tree, await continued(tree), 10 + n)),
    )
    assert.equal(saved.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  it('does not let a step pass over what a cosignature found', async () => {
    const [one, other] = [(await open()).tree, (await open()).tree]
    const grown = await continued(one)
    await saveUpTo(one, grown, 10)
    await other.refresh!()
    await saveUpTo(other, await continued(other), 20)
    await one.cosign(checkpointOf(10), '— witness line\n')
    await assert.rejects(saveUpTo(one, grown, 30), LogTreeChanged)
    await saveUpTo(one, await continued(one), 30)
    assert.equal(one.size(), 30)
  })

  it('recognises its own step when the answer to the first attempt was an error', async () => {
    const { tree } = await open()
    double.have({ kind: 'error after the bytes' }, { method: /PUT/, path: /log\/head/, times: 1 })
    const grown = await continued(tree)
    await saveUpTo(tree, grown, 300)
    await saveUpTo(tree, grown, 301)
    assert.equal((await open()).tree.size(), 301)
  })

  it('saves nothing while the bucket is away, and continues once it is back', async () => {
    const { tree } = await open()
    await saveUpTo(tree, await continued(tree), 300)
    double.have({ kind: 'error', status: 403, code: 'ExpiredToken' })
    await assert.rejects(saveUpTo(tree, await continued(tree), 400), { name: 'BucketUnavailable' })
    assert.equal(tree.size(), 300)
    double.haveNoFault()
    await saveUpTo(tree, await continued(tree), 400)
    assert.equal((await open()).tree.size(), 400)
  })

  it('stores a full tile under its key only when it is part of the tree', async () => {
    const { tree } = await open()
    const grown = await continued(tree)
    await saveUpTo(tree, grown, 256)
    const tiles = () => [...double.objects.keys()].filter((key) => key.includes('/tile/'))
    assert.deepEqual(tiles(), [])
    await saveUpTo(tree, grown, 257)
    assert.match(tiles().join(), /^data\/log\/[0-9a-f]{8}\/tile\/0\/000$/)
  })

  it('has encrypted keys, which are the same for all processes and change with a rotation', async () => {
    const [one, other] = [await open(), await open()]
    assert.equal(one.keys.origin, other.keys.origin)
    assert.match(one.keys.origin, /^traces\.example\/log\/[0-9a-f]{8}$/)
    assert.doesNotMatch(double.objects.get('data/log/head')!.content.toString(), /PRIVATE|SALT/)
    await changeHead(bucket, (head) => {
      const rotated = rotatedLogKeys(keysTextIn(ring, head), 'head', new Date())
      return { ...head, keys: sealedKeys(ring, rotated.text) }
    })
    assert.equal(await one.tree.refresh!(), true)
    assert.equal(one.keys.active(new Date()).length, 3)
    assert.equal(one.keys.origin, other.keys.origin)
    await assert.rejects(openBucketLog(bucket, ringOf(someKey('two')), 'traces.example'), {
      name: 'SecretUnreadable',
      message: /"one"/,
    })
  })

  it('has the same keys after they are encrypted with another master key', async () => {
    const { keys } = await open()
    const [one, two] = [someKey('one'), someKey('two')]
    await assert.rejects(reencryptBucketLogKeys(bucket, ringOf(two)), { name: 'SecretUnreadable' })
    double.objects.clear()
    const before = await openBucketLog(bucket, ringOf(one), 'traces.example')
    await reencryptBucketLogKeys(bucket, ringOf(two, one))
    const after = await openBucketLog(bucket, ringOf(two), 'traces.example')
    assert.equal(after.keys.origin, before.keys.origin)
    assert.notEqual(after.keys.origin, keys.origin)
    assert.equal(await before.tree.refresh!(), true)
  })

  it('does not begin again where its head was lost', async () => {
    const { tree } = await open()
    await saveUpTo(tree, await continued(tree), 600)
    await saveUpTo(tree, await continued(tree), 601)
    double.objects.delete('data/log/head')
    await assert.rejects(open(), /log\/head in the bucket is missing: restore it from a backup/)
    await assert.rejects(saveUpTo(tree, await continued(tree), 700), /is missing/)
  })

  it('is refused where two processes could replace the same head', async () => {
    double.ignoreConditions()
    await assert.rejects(open(), { name: 'BucketUnavailable', message: /ignores If-Match/ })
    assert.equal(await readHead(bucket), undefined)
  })
})
