import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { mock } from 'node:test'
import { buffer } from 'node:stream/consumers'
import type { BlobStore, DirectBlobs } from '../../../src/kernel/ports/blobs.js'
import { directNameOf, inChunks, md5, type BlobStoreUnderTest } from './blob-store-contract.js'

const put = (url: string, body: Uint8Array, of = body) =>
  fetch(url, { method: 'PUT', body, headers: { 'content-md5': md5(of, 'base64') } })

/** The least that stores take as a part, except of the last one. */
const PART = 5 * 1024 * 1024

/** What a store does for clients that store and read content themselves. */
export const directBlobsContract = (open: () => Promise<BlobStoreUnderTest>): void => {
  describe('content that clients store themselves', () => {
    let opened: BlobStoreUnderTest
    let store: BlobStore
    let direct: DirectBlobs
    beforeEach(async () => {
      opened = await open()
      store = opened.store
      direct = store.direct!
    })
    afterEach(() => opened.dispose())

    const storedDirectly = async (content: Uint8Array) => {
      const digest = directNameOf(content)
      assert.equal((await put(await direct.put(digest), content)).status, 200)
      return digest
    }

    for (const size of [0, 1_000, 3_000_000])
      it(`has ${size} bytes, for the service and for clients`, async () => {
        const content = randomBytes(size)

        const digest = await storedDirectly(content)

        assert.equal(await direct.size(digest), size)
        assert.deepEqual(Buffer.from((await store.get(digest))!), content)
        assert.deepEqual(await buffer((await store.open(digest))!.chunks), content)
        const answer = await fetch(await direct.get(digest, 'a.bin'))
        assert.deepEqual(Buffer.from(await answer.arrayBuffer()), content)
      })

    it('is given to browsers as a download, and in ranges', async () => {
      const digest = await storedDirectly(Buffer.from('<script>alert(1)</script>'))
      const url = await direct.get(digest, "größe 'a'.html")

      const answer = await fetch(url, { headers: { range: 'bytes=1-6' } })

      assert.deepEqual([answer.status, await answer.text()], [206, 'script'])
      assert.equal(answer.headers.get('content-type'), 'application/octet-stream')
      assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename\*=UTF-8''gr%C3%B6/)
    })

    it('is refused if it is other content than the address is for', async () => {
      const content = randomBytes(1_000)
      const digest = directNameOf(content)
      const url = await direct.put(digest)

      const other = randomBytes(1_000)
      const refused = [
        await put(url, other, content),
        await put(url, other),
        await fetch(url, { method: 'PUT', body: other }),
      ]

      assert.deepEqual(
        refused.map(({ status }) => status),
        [400, 403, 403],
      )
      assert.equal(await direct.size(digest), undefined)
    })

    it('is not stored by an upload that is cut', async () => {
      const content = randomBytes(3_000_000)
      const digest = directNameOf(content)
      const headers = { 'content-md5': md5(content, 'base64'), 'content-length': content.length }

      const sending = request(await direct.put(digest), { method: 'PUT', headers })
      sending.on('error', () => undefined)
      await new Promise((resolve) => sending.write(content.subarray(0, 1_000_000), resolve))
      sending.destroy()
      await new Promise((resolve) => sending.once('close', resolve))

      assert.equal(await direct.size(digest), undefined)
      assert.equal((await put(await direct.put(digest), content)).status, 200)
    })

    it('is refused after 15 minutes', async () => {
      const content = randomBytes(10)
      const digest = await storedDirectly(content)
      mock.timers.enable({ apis: ['Date'], now: Date.now() - 15.5 * 60_000 })
      const [toPut, toGet] = await Promise.all([direct.put(digest), direct.get(digest, 'a')]).finally(() =>
        mock.timers.reset(),
      )

      assert.deepEqual([(await put(toPut, content)).status, (await fetch(toGet)).status], [403, 403])
    })

    it('is out of reach of an address for other content', async () => {
      const [one, two] = [await storedDirectly(Buffer.from('one')), await storedDirectly(Buffer.from('two'))]
      const toGet = (await direct.get(one, 'a')).replace(one, two)
      const toPut = (await direct.put(one)).replace(one, two)

      assert.deepEqual(
        [(await fetch(toGet)).status, (await put(toPut, Buffer.from('one'))).status],
        [403, 403],
      )
    })

    it('may come in parts', async () => {
      const content = randomBytes(2 * PART + 1)
      const digest = directNameOf(content)
      const pieces: Uint8Array[] = []
      for await (const piece of inChunks(content, PART)) pieces.push(piece)
      const parts = pieces.map((piece, at) => ({ number: at + 1, md5: md5(piece) }))

      const { upload, urls } = await direct.putParts(digest, parts)
      assert.equal((await put(urls[0]!.url, pieces[1]!, pieces[0])).status, 400)
      const answers = await Promise.all(urls.map(({ url }, at) => put(url, pieces[at]!)))
      const etags = answers.map(({ headers }, at) => ({ number: at + 1, etag: headers.get('etag')! }))
      assert.equal(await direct.size(digest), undefined)
      await direct.complete(digest, upload, etags)
      await direct.complete(digest, upload, etags)

      assert.equal(await direct.size(digest), content.length)
      assert.deepEqual(await buffer((await store.open(digest))!.chunks), content)
    })

    it('is not there while a part is missing', async () => {
      const pieces = [randomBytes(PART), randomBytes(1)] as const
      const digest = directNameOf(Buffer.concat(pieces))
      const { upload, urls } = await direct.putParts(
        digest,
        pieces.map((piece, at) => ({ number: at + 1, md5: md5(piece) })),
      )
      const first = { number: 1, etag: (await put(urls[0]!.url, pieces[0])).headers.get('etag')! }

      await direct.complete(digest, upload, [first, { number: 2, etag: first.etag }])

      assert.equal(await direct.size(digest), undefined)
    })
  })
}
