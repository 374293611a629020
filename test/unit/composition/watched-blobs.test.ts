import assert from 'node:assert/strict'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileBlobStore } from '../../../src/adapters/blobs/file-blob-store.js'
import { watchedBlobs, type WatchedBlobs } from '../../../src/composition/watched-blobs.js'
import { BlobsUnavailable, BlobTooLarge } from '../../../src/domain/ports/blobs.js'

describe('large content that is watched', () => {
  let directory: string
  let said: string[]
  let watched: WatchedBlobs
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-watched-'))
    said = []
    const note = (event: string) => void said.push(event)
    watched = watchedBlobs(openFileBlobStore(join(directory, 'blobs')), { error: note, info: note })
  })
  afterEach(() => rm(directory, { recursive: true }))

  const move = (from: string, to: string) => rename(join(directory, from), join(directory, to))
  const put = () => watched.blobs.put(Buffer.from('content'))

  it('says why the last was not kept until some is, and logs each change once', async () => {
    await move('blobs', 'elsewhere')
    await assert.rejects(put(), BlobsUnavailable)
    await assert.rejects(put(), BlobsUnavailable)
    assert.match(watched.failing() ?? '', /\(ENOENT\)$/)

    await move('elsewhere', 'blobs')
    await put()
    assert.equal(watched.failing(), undefined)
    assert.deepEqual(said, ['blobs.writes_failed', 'blobs.writes_resumed'])
  })

  it('is not to blame where there is too much of it', async () => {
    const source = (async function* () {
      yield await Promise.resolve(Buffer.from('content'))
    })()
    await assert.rejects(watched.blobs.putStream(source, 1), BlobTooLarge)
    assert.equal(watched.failing(), undefined)
    assert.deepEqual(said, [])
  })
})
