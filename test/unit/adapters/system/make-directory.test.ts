import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDirectory } from '../../../../src/adapters/system/make-directory.js'
import { itWhen } from '../../../support/skipping.js'

const itWithProc = itWhen(existsSync('/proc/self'), '/proc is missing')

describe('a directory to be made', () => {
  let directory: string
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'tallytree-directory-'))))
  afterEach(() => rm(directory, { recursive: true }))

  it('is there afterwards, with those above it, however often it is made', () => {
    const path = join(directory, 'with spaces', 'ü', 'c')
    makeDirectory(path)
    makeDirectory(path)
    assert.ok(statSync(path).isDirectory())
  })

  it('is refused where a file is in its place, or above it', async () => {
    const file = join(directory, 'file')
    await writeFile(file, '')
    assert.throws(() => makeDirectory(file), { code: 'EEXIST' })
    assert.throws(() => makeDirectory(join(file, 'below')), { code: 'ENOTDIR' })
  })

  it('is refused where its place is a link that leads nowhere', async () => {
    await symlink(join(directory, 'nowhere'), join(directory, 'link'))
    assert.throws(() => makeDirectory(join(directory, 'link')), { code: 'EEXIST' })
  })

  itWithProc('is refused where nobody can make any, as in /proc', () => {
    assert.throws(() => makeDirectory('/proc/tallytree'), { code: 'ENOENT' })
    assert.throws(() => makeDirectory('/proc/tallytree/data'), { code: 'ENOENT' })
  })
})
