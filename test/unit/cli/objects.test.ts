import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { openFileBlobStore, pathOf } from '../../../src/adapters/blobs/file-blob-store.js'
import { openSqliteSecretStore } from '../../../src/adapters/secrets/sqlite-secret-store.js'
import { copyObjects } from '../../../src/cli/objects.js'
import { replay } from '../../../src/cli/replay.js'
import { keyRingOf, secretsFile } from '../../../src/composition/secrets.js'
import { readConfig } from '../../../src/config.js'
import { newEvent } from '../../../src/kernel/event.js'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { directNameOf, inChunks } from '../../contract/blobs/blob-store-contract.js'
import { addressOf } from '../../support/buckets.js'
import { tallytree } from '../../support/command.js'
import { startS3Double, type S3Double } from '../../support/s3-double.js'
import { scratchDirectory } from '../../support/scratch.js'

const KEYS = { TALLYTREE_MASTER_KEYS: `one:${randomBytes(32).toString('base64').slice(0, 43)}` }

describe('tallytree objects copy', () => {
  let double: S3Double
  let directory: string
  beforeEach(async () => {
    double = await startS3Double()
    directory = await scratchDirectory()
  })
  afterEach(() => double.stop())

  const configOf = (dataDirectory: string) => readConfig({ TALLYTREE_DATA_DIR: dataDirectory, ...KEYS })
  const secretsOf = (at: string) => openSqliteSecretStore(secretsFile(at), keyRingOf(configOf(at)))
  const secret = { team: 'team', name: 'A', version: 1 }

  it('moves payloads and secrets into a bucket and back', async () => {
    const blobs = openFileBlobStore(join(directory, 'blobs'))
    const contents = [randomBytes(0), randomBytes(10), randomBytes(400_000), randomBytes(9_000_000)]
    const digests = await Promise.all(contents.map((content) => blobs.put(content)))
    for (const content of contents.slice(1)) {
      const digest = directNameOf(content)
      await blobs.putStream(inChunks(content, 1_000_000), content.length, undefined, digest)
      digests.push(digest)
      contents.push(content)
    }
    const secrets = await secretsOf(directory)
    await secrets.put(secret, 'value')
    await secrets.confirm(secret)
    await secrets.close()

    assert.equal(await copyObjects({ from: directory, to: double.url }, configOf(directory)), 0)
    const back = await scratchDirectory()
    assert.equal(await copyObjects({ from: double.url, to: back }, configOf(back)), 0)

    const copied = openFileBlobStore(join(back, 'blobs'))
    for (const [at, digest] of digests.entries())
      assert.deepEqual(await buffer((await copied.open(digest))!.chunks), contents[at])
    const copiedSecrets = await secretsOf(back)
    assert.equal(await copiedSecrets.get(secret), 'value')
    assert.deepEqual(
      (await copiedSecrets.versions(secret)).map(({ confirmed }) => confirmed),
      [true],
    )
    await copiedSecrets.close()
  })

  it('copies only what is missing when it runs again', async () => {
    const blobs = openFileBlobStore(join(directory, 'blobs'))
    for (let one = 0; one < 10; one += 1) await blobs.put(randomBytes(300_000))
    double.have({ kind: 'error', status: 403, code: 'AccessDenied' }, { method: /PUT/, path: /blobs\/[0-7]/ })
    await assert.rejects(copyObjects({ from: directory, to: double.url }, configOf(directory)), /denied/)
    double.haveNoFault()
    const before = [...double.objects.keys()].filter((key) => key.includes('blobs/'))

    assert.equal(await copyObjects({ from: directory, to: double.url }, configOf(directory)), 0)

    const puts = double.requests.filter((request) => /^PUT.*blobs/.test(request))
    for (const key of before) assert.equal(puts.filter((put) => put.includes(key)).length, 1)
    assert.equal([...double.objects.keys()].filter((key) => key.includes('blobs/')).length, 10)
  })

  it('names content that differs from its digest, and copies the rest', async () => {
    const blobs = openFileBlobStore(join(directory, 'blobs'))
    const [damaged, sound] = [await blobs.put(randomBytes(500_000)), await blobs.put(randomBytes(100))]
    await writeFile(pathOf(join(directory, 'blobs'), damaged), randomBytes(500_000))

    assert.equal(await copyObjects({ from: directory, to: double.url }, configOf(directory)), 1)

    assert.deepEqual([...double.objects.keys()], [`data/blobs/${sound}`])
  })

  it('is preceded by replay and verify, which write and read a bucket', async () => {
    const events = openSqliteEventStore(join(directory, 'events.db'))
    const blobs = openFileBlobStore(join(directory, 'blobs'))
    const content = randomBytes(300_000)
    const digest = directNameOf(content)
    await blobs.putStream(inChunks(content, 100_000), content.length, undefined, digest)
    const stored = {
      type: 'FileStored',
      data: {
        project_id: 'default/project',
        digest: 'a'.repeat(43),
        name: 'file',
        size: content.length,
        blob: digest,
      },
    } as const
    const cause = { correlationId: 'c', causationId: 'c', actor: 'system' } as const
    await events.append('file-default/project/a', 'none', [newEvent(randomUUID(), stored, cause)])
    await events.close()
    const to = await scratchDirectory()
    const objects = addressOf(double.url)

    assert.equal(await replay({ to, from: directory, objects, upTo: undefined }, configOf(directory)), 0)
    assert.deepEqual([...double.objects.keys()], [`data/blobs/${digest}`])
    const verify = () =>
      tallytree(['verify', to, '--objects', double.url], {
        AWS_ACCESS_KEY_ID: 'key',
        AWS_SECRET_ACCESS_KEY: 'secret',
        ...KEYS,
      })
    assert.equal((await verify()).code, 0)

    double.objects.clear()
    assert.equal((await verify()).code, 1)
  })
})
