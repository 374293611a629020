import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileBlobStore } from '../../../src/adapters/blobs/file-blob-store.js'
import { blobStoreContract, inChunks, sha256 } from './blob-store-contract.js'

const temporaryDirectory = () => mkdtemp(join(tmpdir(), 'tallytree-blobs-'))

blobStoreContract('the blob store in files', async () => {
  const directory = await temporaryDirectory()
  return {
    store: openFileBlobStore(join(directory, 'blobs')),
    dispose: () => rm(directory, { recursive: true }),
  }
})

describe('the blob store in files', () => {
  let directory: string
  beforeEach(async () => {
    directory = await temporaryDirectory()
  })
  afterEach(() => rm(directory, { recursive: true }))

  const filesBelow = async () =>
    (await readdir(directory, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)

  it('has a file per blob, named by its digest', async () => {
    const content = randomBytes(100)

    const digest = await openFileBlobStore(directory).put(content)

    const path = join(directory, digest.slice(0, 2), digest.slice(2, 4), digest)
    assert.deepEqual(await readFile(path), content)
  })

  it('has every blob when it is opened again', async () => {
    const content = randomBytes(100)
    const digest = await openFileBlobStore(directory).put(content)

    const again = openFileBlobStore(directory)

    assert.deepEqual(await again.get(digest), content)
    assert.equal(await again.put(content), digest)
  })

  it('leaves no other file behind, whether writers succeed or fail', async () => {
    const store = openFileBlobStore(directory)
    const content = randomBytes(1_000)

    await Promise.allSettled([
      store.put(content),
      store.putStream(inChunks(content, 10), 1_000),
      store.putStream(inChunks(content, 10), 999),
      store.putStream(inChunks(randomBytes(1_000), 10), 0),
    ])

    assert.deepEqual(await filesBelow(), [sha256(content)])
  })

  it('removes incomplete files that are older than a day when it is opened, and no others', async () => {
    const incoming = join(directory, 'incoming')
    await mkdir(incoming)
    for (const [name, hours] of [
      ['recent', 23],
      ['abandoned', 25],
    ] as const) {
      await writeFile(join(incoming, name), 'half')
      const time = new Date(Date.now() - hours * 3_600_000)
      await utimes(join(incoming, name), time, time)
    }

    const digest = await openFileBlobStore(directory).put(randomBytes(10))

    assert.deepEqual((await filesBelow()).sort(), [digest, 'recent'].sort())
  })

  it('completes an upload when another process opens the directory meanwhile', async () => {
    const store = openFileBlobStore(directory)
    const content = randomBytes(1_000)
    const source = (async function* () {
      yield content.subarray(0, 500)
      openFileBlobStore(directory)
      yield content.subarray(500)
    })()

    const { digest } = await store.putStream(source, 1_000)

    assert.deepEqual(await store.get(digest), content)
  })

  it('writes again after its directory could not be made', async () => {
    const store = openFileBlobStore(directory)
    const content = randomBytes(100)
    const obstacle = join(directory, sha256(content).slice(0, 2))
    await writeFile(obstacle, 'a file in the way')
    await assert.rejects(store.put(content))

    await rm(obstacle)

    assert.equal(await store.put(content), sha256(content))
  })
})
