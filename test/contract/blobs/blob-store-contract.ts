import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { BlobTooLarge, directBlob, type BlobStore, type OpenedBlob } from '../../../src/kernel/ports/blobs.js'

export interface BlobStoreUnderTest {
  readonly store: BlobStore
  readonly dispose: () => Promise<void>
}

export const sha256 = (content: Uint8Array | string): string =>
  createHash('sha256').update(content).digest('hex')

export const md5 = (content: Uint8Array, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHash('md5').update(content).digest(encoding)

/** The name of content that a client stored itself, in some project. */
export const directNameOf = (content: Uint8Array): string => directBlob(randomUUID(), md5(content), sha256)

export async function* inChunks(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
}

const contentIn = async (opened: OpenedBlob | undefined): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of opened?.chunks ?? []) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** What every adapter of the blob store keeps; `open` is called for each test. */
export const blobStoreContract = (name: string, open: () => Promise<BlobStoreUnderTest>): void => {
  describe(`${name} keeps the contract of the blob store`, () => {
    let opened: BlobStoreUnderTest
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.dispose())

    for (const size of [0, 1, 1_000, 3_000_000]) {
      it(`gives back ${size} bytes under their SHA-256`, async () => {
        const { store } = opened
        const content = randomBytes(size)

        const digest = await store.put(content)

        assert.equal(digest, sha256(content))
        assert.deepEqual(Buffer.from((await store.get(digest)) ?? 'nothing'), content)
      })

      it(`gives back ${size} bytes that came as a stream`, async () => {
        const { store } = opened
        const content = randomBytes(size)

        const stored = await store.putStream(inChunks(content, 65_000), size)

        assert.deepEqual(stored, { digest: sha256(content), size })
        assert.deepEqual(Buffer.from((await store.get(stored.digest)) ?? 'nothing'), content)
      })
    }

    for (const size of [1_000, 9_000_000])
      it(`keeps the name of a copy of ${size} bytes that a client stored itself`, async () => {
        const { store } = opened
        const content = randomBytes(size)
        const digest = directNameOf(content)

        assert.deepEqual(await store.putStream(inChunks(content, 1_000_000), size, undefined, digest), {
          digest,
          size,
        })

        assert.deepEqual(Buffer.from((await store.get(digest))!), content)
        assert.deepEqual(await contentIn(await store.open(digest)), content)
      })

    for (const size of [0, 1, 3_000_000]) {
      it(`opens ${size} bytes, with their size, as often as it is asked`, async () => {
        const { store } = opened
        const content = randomBytes(size)
        const digest = await store.put(content)

        for (let time = 0; time < 2; time += 1) {
          const blob = await store.open(digest)
          assert.equal(blob?.size, size)
          assert.deepEqual(await contentIn(blob), content)
        }
      })
    }

    it('gives back a stream of several parts, whole and by ranges', async () => {
      const { store } = opened
      const content = randomBytes(20_000_000)

      const { digest, size } = await store.putStream(inChunks(content, 999_999), content.length)
      await store.putStream(inChunks(content, 1_000_000), Number.MAX_SAFE_INTEGER)

      assert.deepEqual({ digest, size }, { digest: sha256(content), size: content.length })
      assert.equal(sha256(await contentIn(await store.open(digest))), digest)
      for (const [start, end] of [
        [0, 1],
        [8_388_600, 8_388_700],
        [19_999_999, 20_000_000],
        [5, 5],
      ] as const)
        assert.deepEqual(
          await contentIn(await store.open(digest, { start, end })),
          content.subarray(start, end),
        )
    })

    it('has a deleted blob no more, until it is stored again', async () => {
      const { store } = opened
      const content = randomBytes(1000)
      const digest = await store.put(content)
      assert.ok((await store.get(digest)) !== undefined)

      await store.delete(digest)
      await store.delete(digest)

      assert.equal(await store.get(digest), undefined)
      assert.equal(await store.open(digest), undefined)
      assert.equal(await store.put(content), digest)
      assert.deepEqual(Buffer.from((await store.get(digest))!), content)
    })

    it('gives back ranges of small content', async () => {
      const { store } = opened
      const digest = await store.put(Buffer.from('0123456789'))

      const range = await store.open(digest, { start: 3, end: 6 })

      assert.equal(range?.size, 10)
      assert.deepEqual(await contentIn(range), Buffer.from('345'))
    })

    it('lets go of a blob that is not read to its end, or not at all', async () => {
      const { store } = opened
      const content = randomBytes(3_000_000)
      const digest = await store.put(content)

      await store.open(digest)
      for await (const chunk of (await store.open(digest))?.chunks ?? []) {
        assert.ok(chunk.length > 0)
        break
      }

      assert.deepEqual(await contentIn(await store.open(digest)), content)
    })

    it('does not give one who reads chunks what another did to theirs', async () => {
      const { store } = opened
      const digest = await store.put(Buffer.from('content'))

      for await (const chunk of (await store.open(digest))?.chunks ?? []) chunk.fill(0)

      assert.deepEqual(await contentIn(await store.open(digest)), Buffer.from('content'))
    })

    it('keeps the same content once, however often and from where it comes', async () => {
      const { store } = opened
      const content = randomBytes(10_000)

      const digests = await Promise.all([
        ...Array.from({ length: 20 }, () => store.put(content)),
        ...Array.from({ length: 20 }, () =>
          store.putStream(inChunks(content, 999), 10_000).then(({ digest }) => digest),
        ),
      ])
      digests.push(await store.put(content))

      assert.deepEqual([...new Set(digests)], [sha256(content)])
      assert.deepEqual(Buffer.from((await store.get(sha256(content))) ?? 'nothing'), content)
    })

    it('has nothing under a digest that was never put', async () => {
      assert.equal(await opened.store.get(sha256(randomBytes(8))), undefined)
      assert.equal(await opened.store.open(sha256(randomBytes(8))), undefined)
    })

    for (const name of ['', 'abc', '../../../etc/passwd', 'A'.repeat(64), `${'a'.repeat(64)}/..`]) {
      it(`has nothing under '${name}', which is no digest`, async () => {
        assert.equal(await opened.store.get(name), undefined)
        assert.equal(await opened.store.open(name), undefined)
      })
    }

    it('does not give one reader what another did to its copy', async () => {
      const { store } = opened
      const digest = await store.put(Buffer.from('content'))

      ;(await store.get(digest))?.fill(0)

      assert.deepEqual(Buffer.from((await store.get(digest)) ?? 'nothing'), Buffer.from('content'))
    })

    it('refuses a stream as soon as it is over its limit, and keeps nothing of it', async () => {
      const { store } = opened
      const content = randomBytes(1_000)
      let given = 0
      const endless = async function* () {
        for (;;) {
          given += 1
          yield content
        }
      }

      await assert.rejects(store.putStream(endless(), 2_999), (error) => {
        assert.ok(error instanceof BlobTooLarge)
        assert.equal(error.limitBytes, 2_999)
        return true
      })

      assert.equal(given, 3)
      assert.equal(await store.get(sha256(Buffer.concat([content, content]))), undefined)
    })

    it('fails with the error of a source that fails, and keeps nothing of it', async () => {
      const { store } = opened
      const content = randomBytes(1_000)
      const broken = async function* () {
        yield content
        throw new Error('connection lost')
      }

      await assert.rejects(store.putStream(broken(), 10_000), /connection lost/)

      assert.equal(await store.get(sha256(content)), undefined)
    })
  })
}
