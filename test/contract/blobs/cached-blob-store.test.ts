import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCachedBlobStore } from '../../../src/adapters/blobs/cached-blob-store.js'
import { pathOf } from '../../../src/adapters/blobs/file-blob-store.js'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { openHealth, type Health } from '../../../src/application/health.js'
import type { BlobStore } from '../../../src/kernel/ports/blobs.js'
import { until } from '../../support/until.js'
import { blobStoreContract, inChunks, sha256 } from './blob-store-contract.js'

const healthOf = (): Health => openHealth({ error: () => undefined, info: () => undefined })

blobStoreContract('the cached blob store', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-cache-'))
  return {
    store: openCachedBlobStore(openInMemoryBlobStore(), directory, 1_000_000, healthOf()),
    dispose: () => rm(directory, { recursive: true, maxRetries: 9 }),
  }
})

describe('the cached blob store', () => {
  let directory: string
  let reads: number
  let inner: BlobStore
  let health: Health
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-cache-'))
    reads = 0
    const memory = openInMemoryBlobStore()
    const counted = <A>(read: Promise<A>) => {
      reads += 1
      return read
    }
    inner = {
      ...memory,
      get: (digest) => counted(memory.get(digest)),
      open: (digest, range) => counted(memory.open(digest, range)),
    }
    health = healthOf()
  })
  afterEach(() => rm(directory, { recursive: true, maxRetries: 9 }))

  const opened = (maxBytes = 10_000) => openCachedBlobStore(inner, directory, maxBytes, health)
  const cached = async () =>
    (await readdir(directory, { recursive: true }))
      .map((path) => path.split('/').at(-1)!)
      .filter((name) => name.length === 64)
  const isCached = (digest: string) => until(async () => (await cached()).includes(digest))
  /** The file is there some moments before it is read. */
  const isServed = (store: BlobStore, digest: string) =>
    until(async () => {
      const before = reads
      await store.get(digest)
      return reads === before
    })

  it('reads what was written or read before from the disk, also after a restart', async () => {
    const written = await opened().put(randomBytes(100))
    const read = await inner.put(randomBytes(100))
    await isCached(written)
    await opened().get(read)
    await isCached(read)
    reads = 0

    const again = opened()
    assert.equal(sha256((await again.get(written))!), written)
    assert.equal((await again.open(read, { start: 1, end: 2 }))?.size, 100)

    assert.equal(reads, 0)
  })

  it('deletes the least recently used content over its limit', async () => {
    const store = opened(250)
    const [one, two, three] = [randomBytes(100), randomBytes(100), randomBytes(100)]
    await store.put(one)
    await isServed(store, sha256(one))
    await store.put(two)
    await isServed(store, sha256(two))
    await store.get(sha256(one))

    await store.put(three)
    await isCached(sha256(three))

    await until(async () => !(await cached()).includes(sha256(two)))
    assert.deepEqual((await cached()).sort(), [sha256(one), sha256(three)].sort())
    assert.deepEqual(Buffer.from((await store.get(sha256(two)))!), two)
  })

  it('does not keep large content', async () => {
    const store = opened(100_000_000)
    const content = randomBytes(5_000_000)

    await store.putStream(inChunks(content, 1_000_000), content.length)
    await store.put(content)
    for await (const chunk of (await store.open(sha256(content)))!.chunks) assert.ok(chunk.length > 0)

    assert.deepEqual(await cached(), [])
  })

  it('reads what is damaged or gone on the disk from the store again', async () => {
    const store = opened()
    const [damaged, gone] = [await store.put(randomBytes(100)), await store.put(randomBytes(100))]
    await isCached(damaged)
    await isCached(gone)
    await writeFile(pathOf(directory, damaged), 'damaged')
    await rm(pathOf(directory, gone))

    for (const digest of [damaged, gone]) assert.equal(sha256((await store.get(digest))!), digest)

    assert.equal(reads, 2)
  })

  it('works without a disk that cannot be written, and says so until it can', async () => {
    const content = randomBytes(100)
    const store = opened()
    // As a full disk does, this fails each write.
    await rm(join(directory, 'incoming'), { recursive: true })
    await writeFile(join(directory, 'incoming'), '')

    const digest = await store.put(content)
    assert.deepEqual(Buffer.from((await store.get(digest))!), content)
    await until(() => health.reason('blob-cache') !== undefined)
    assert.match(health.reason('blob-cache')!, /the cache of payloads is not used: it cannot be written/)

    await rm(join(directory, 'incoming'))
    await chmod(directory, 0o700)
    await openCachedBlobStore(inner, directory, 10_000, health).put(content)
    await until(() => health.reason('blob-cache') === undefined)
  })

  it('is not used when its directory cannot be made', async () => {
    await writeFile(join(directory, 'file'), '')

    const store = openCachedBlobStore(inner, join(directory, 'file', 'cache'), 10_000, health)

    assert.equal(await store.put(Buffer.from('content')), sha256(Buffer.from('content')))
    assert.match(health.reason('blob-cache') ?? '', /cannot be written \(ENOTDIR\)/)
  })
})
