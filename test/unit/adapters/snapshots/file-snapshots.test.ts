import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileSnapshots } from '../../../../src/adapters/snapshots/file-snapshots.js'

describe('snapshots in a file', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-snapshots-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  it('are replaced whole, by whoever writes last, and leave nothing else behind', async () => {
    const path = join(directory, 'below', 'ledger.json')
    assert.equal(await fileSnapshots(path).read(), undefined)
    const texts = Array.from({ length: 20 }, (_, at) => String(at).repeat(100_000))
    await Promise.all(texts.map((text) => fileSnapshots(path).write(text)))
    assert.ok(texts.includes((await fileSnapshots(path).read()) ?? ''))
    assert.deepEqual(await readdir(join(directory, 'below')), ['ledger.json'])
  })

  it('that cannot be put down leave the one before', async () => {
    await fileSnapshots(join(directory, 'kept')).write('kept')
    await assert.rejects(fileSnapshots(join(directory, 'kept', 'below')).write('lost'))
    assert.equal(await fileSnapshots(join(directory, 'kept')).read(), 'kept')
  })
})
