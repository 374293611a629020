import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { openBucketBlobStore } from '../../../src/adapters/blobs/bucket-blob-store.js'
import { openHealth, type Health } from '../../../src/application/health.js'
import type { BlobStore } from '../../../src/kernel/ports/blobs.js'
import type { Bucket } from '../../../src/kernel/ports/bucket.js'
import { openedBucket } from '../../support/buckets.js'
import { startS3Double, type S3Double } from '../../support/s3-double.js'
import { until } from '../../support/until.js'
import { blobStoreContract, directNameOf, inChunks, sha256 } from './blob-store-contract.js'
import { directBlobsContract } from './direct-blobs-contract.js'

blobStoreContract('the blob store in a bucket', async () => {
  const double = await startS3Double()
  const bucket = await openedBucket(double.url)
  return {
    store: openBucketBlobStore(bucket),
    dispose: async () => {
      bucket.close()
      await double.stop()
    },
  }
})

directBlobsContract(async () => {
  const double = await startS3Double()
  const bucket = await openedBucket(`${double.url}&public_endpoint=http://localhost:${double.port}`)
  return {
    store: openBucketBlobStore(bucket),
    dispose: async () => {
      bucket.close()
      await double.stop()
    },
  }
})

const PART = 8 * 1024 * 1024

describe('the blob store in a bucket', () => {
  let double: S3Double
  let bucket: Bucket
  let store: BlobStore
  let health: Health
  beforeEach(async () => {
    double = await startS3Double()
    bucket = await openedBucket(double.url)
    health = openHealth({ error: () => undefined, info: () => undefined })
    store = openBucketBlobStore(bucket, health)
    double.requests.splice(0)
    double.headers.splice(0)
  })
  afterEach(async () => {
    bucket.close()
    await double.stop()
  })

  const key = (digest: string) => `data/blobs/${digest}`
  const slow = { kind: 'error', status: 503, code: 'SlowDown' } as const

  it('names objects by their digest, and sends checksums that every store knows', async () => {
    const content = randomBytes(100)

    const digest = await store.put(content)

    assert.deepEqual([...double.objects.keys()], [key(digest)])
    assert.deepEqual(double.requests, [`PUT /bucket/${key(digest)}?x-id=PutObject`])
    assert.equal(double.headers[0]?.['x-amz-content-sha256'], digest)
    assert.ok('content-md5' in double.headers[0])
    assert.ok(!Object.keys(double.headers[0]).some((name) => name.startsWith('x-amz-checksum')))
  })

  it('does not send large content again that the bucket has', async () => {
    const content = randomBytes(2_000_000)
    await store.put(content)

    await store.put(content)

    assert.equal(double.requests.filter((request) => request.startsWith('PUT')).length, 1)
  })

  it('sends a large stream in parts of 8 MiB, at most 4 at once, and leaves nothing else behind', async () => {
    const content = randomBytes(5 * PART + 1)
    double.mostAtOnce()

    const { digest } = await store.putStream(inChunks(content, 3_000_000), content.length)

    assert.equal(double.requests.filter((request) => request.includes('partNumber=')).length, 6)
    assert.ok(double.mostAtOnce() <= 4)
    assert.deepEqual([...double.objects.keys()], [key(digest)])
    assert.equal(double.unfinished(), 0)
  })

  it('repeats a request whose answer was an error although it took effect', async () => {
    double.have({ kind: 'error after the bytes' }, { method: /PUT/, times: 2 })
    const content = randomBytes(100)

    assert.equal(await store.put(content), sha256(content))

    assert.deepEqual(await store.get(sha256(content)), content)
  })

  it('repeats a request whose connection was cut at half', async () => {
    double.have({ kind: 'cut request' }, { method: /PUT/, times: 1 })
    const content = randomBytes(500_000)

    const digest = await store.put(content)
    double.have({ kind: 'cut answer' }, { method: /GET/, times: 1 })

    assert.deepEqual(await store.get(digest), content)
  })

  it('does not repeat a stream that has begun, and fails it when it is cut', async () => {
    const digest = await store.put(randomBytes(500_000))
    double.have({ kind: 'cut answer' }, { method: /GET/ })
    double.requests.splice(0)

    await assert.rejects(buffer((await store.open(digest))!.chunks), { name: 'BlobsUnavailable' })

    assert.deepEqual(
      double.requests.map((request) => request.slice(0, 4)),
      ['HEAD', 'GET '],
    )
    assert.match(health.reason('blob-reads') ?? '', /no connection \(ECONNRESET\)/)
  })

  it('acknowledges nothing that the bucket did not take, and says why until it does', async () => {
    double.have({ kind: 'error', status: 507, code: 'InsufficientStorage' }, { method: /PUT|POST/ })
    const small = randomBytes(100)
    const large = randomBytes(PART + 1)

    for (const storing of [store.put(small), store.putStream(inChunks(large, 100_000), large.length)])
      await assert.rejects(storing, {
        name: 'BlobsUnavailable',
        message: /^the bucket failed: it is full \(InsufficientStorage\)$/,
      })
    assert.match(health.reason('blobs') ?? '', /it is full/)

    double.haveNoFault()
    await store.put(small)
    assert.equal(health.reason('blobs'), undefined)
  })

  it('aborts an upload whose part fails, or whose source fails', async () => {
    double.have({ kind: 'error', status: 403, code: 'AccessDenied' }, { path: /partNumber=2/ })
    const content = randomBytes(3 * PART)
    const broken = async function* () {
      yield content.subarray(0, PART)
      throw new Error('connection lost')
    }

    await assert.rejects(store.putStream(inChunks(content, 1_000_000), content.length), {
      message: /s3:PutObject \(UploadPart\) is denied \(AccessDenied\)/,
    })
    await assert.rejects(store.putStream(broken(), content.length), /connection lost/)

    assert.equal(double.unfinished(), 0)
    assert.equal(double.objects.size, 0)
  })

  it('finds content that differs from its digest', async () => {
    const small = await store.put(randomBytes(1_000))
    const large = await store.put(randomBytes(500_000))
    double.have({ kind: 'wrong content' }, { method: /GET/ })

    await assert.rejects(store.get(small), { name: 'BlobDamaged' })
    const { size, chunks } = (await store.open(large))!
    let given = 0
    await assert.rejects(
      (async () => {
        for await (const chunk of chunks) given += chunk.length
      })(),
      { name: 'BlobDamaged' },
    )

    assert.ok(given < size)
    assert.match(health.reason('blob-content') ?? '', new RegExp(`${small} and 1 more|${large} and 1 more`))
  })

  it('finds content that a client stored itself and that differs from its MD5', async () => {
    const content = randomBytes(500_000)
    const digest = directNameOf(content)
    double.objects.set(key(digest), { content: randomBytes(500_000), modified: new Date() })

    await assert.rejects(store.get(digest), { name: 'BlobDamaged' })
    await assert.rejects(buffer((await store.open(digest))!.chunks), { name: 'BlobDamaged' })
  })

  it('is refused content that was changed on the way', async () => {
    await assert.rejects(bucket.put('blobs/a', Buffer.from('content'), sha256(Buffer.from('other'))), {
      message: /XAmzContentSHA256Mismatch/,
    })
  })

  it('asks less when it is told to slow down, and more again later', async () => {
    const putting = (count: number) =>
      Promise.allSettled(Array.from({ length: count }, () => store.put(randomBytes(10))))
    await putting(64)
    double.mostAtOnce()
    await putting(64)
    const before = double.mostAtOnce()
    double.have(slow, { times: 5 })
    await putting(64)
    double.mostAtOnce()
    await putting(64)
    const during = double.mostAtOnce()
    await putting(300)
    const after = double.mostAtOnce()

    assert.ok(before <= 32 && during < before && after > during, `${before}, ${during} and ${after} at once`)
  })

  it('stores content of a team while the requests of another one are slow and many', async () => {
    double.have({ kind: 'late answer', ms: 200 })
    let stored = 0
    const busy = Array.from({ length: 100 }, async () => {
      await store.put(randomBytes(10), 'busy')
      stored += 1
    })
    await until(() => double.requests.length >= 20)

    await store.put(randomBytes(10), 'quiet')

    assert.ok(stored < 50, `${stored} were stored before`)
    await Promise.all(busy)
  })

  it('gives up after three tries', async () => {
    double.have(slow)

    await assert.rejects(store.get(sha256(randomBytes(1))), {
      name: 'BlobsUnavailable',
      message: /takes no more requests at present \(SlowDown\)/,
    })

    assert.equal(double.requests.length, 3)
  })

  it('has nothing past the end of an object', async () => {
    const digest = await store.put(randomBytes(500_000))
    double.objects.set(key(digest), { content: Buffer.from('cut'), modified: new Date() })

    assert.equal((await buffer(bucket.read(`blobs/${digest}`, { start: 3, end: 9 }))).length, 0)
  })
})
