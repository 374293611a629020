import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openFileSpools } from '../../../../src/adapters/spools/file-spools.js'
import type { Spool } from '../../../../src/kernel/ports/spools.js'
import { scratchDirectory } from '../../../support/scratch.js'

const read = async (spool: Spool, offset: number, length: number): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  for await (const piece of spool.read(offset, length)) pieces.push(piece)
  return Buffer.concat(pieces)
}

describe('spools in files', () => {
  let directory: string
  beforeEach(async () => (directory = join(await scratchDirectory(), 'spools')))

  it('give back any part of what was appended, also between appends', async () => {
    const spool = await openFileSpools(directory).open()
    const pieces = [10, 200_000, 1, 65_536].map((size) => randomBytes(size))
    let all = Buffer.alloc(0)
    for (const piece of pieces) {
      await spool.append(piece)
      all = Buffer.concat([all, piece])
      for (const [offset, length] of [
        [0, all.length],
        [all.length - 1, 1],
        [Math.floor(all.length / 3), Math.floor(all.length / 2)],
        [5, 0],
      ] as const)
        assert.deepEqual(await read(spool, offset, length), all.subarray(offset, offset + length))
    }
    await assert.rejects(read(spool, 0, all.length + 1))
    await spool.close()
  })

  it('keep apart what is of several', async () => {
    const spools = openFileSpools(directory)
    const opened = await Promise.all([1, 2, 3].map(() => spools.open()))
    await Promise.all(opened.map((spool, at) => spool.append(Buffer.from(String(at)))))
    assert.deepEqual(await Promise.all(opened.map(async (spool) => String(await read(spool, 0, 1)))), [
      '0',
      '1',
      '2',
    ])
    await Promise.all(opened.map((spool) => spool.close()))
  })

  it('leave nothing behind, whatever becomes of the process', async () => {
    const spool = await openFileSpools(directory).open()
    await spool.append(Buffer.from('here'))
    assert.deepEqual(await readdir(directory), [])
    await spool.close()
  })

  it('have what an earlier process left removed, and nothing of a living one', async () => {
    const living = await openFileSpools(directory).open()
    await living.append(Buffer.from('alive'))
    await writeFile(join(directory, 'left.spool'), 'left')
    await mkdir(join(directory, 'else'))
    openFileSpools(directory)
    assert.deepEqual(await readdir(directory), ['else'])
    assert.equal(String(await read(living, 0, 5)), 'alive')
    await living.close()
  })

  it('cannot be opened where their directory is gone, until it is back', async () => {
    const spools = openFileSpools(directory)
    await rm(directory, { recursive: true })
    await assert.rejects(spools.open())
    await mkdir(directory)
    await (await spools.open()).close()
  })
})
