import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openSqliteAttemptRecords } from '../../../src/adapters/attempt-records/sqlite-attempt-records.js'
import { openFileBlobStore } from '../../../src/adapters/blobs/file-blob-store.js'
import { openSqliteDispatcherState } from '../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { makePrivateDatabase, makePrivateDirectory } from '../../../src/kernel/private-files.js'
import { scratchDirectory } from '../../support/scratch.js'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** The mode of everything in a directory. */
const modesIn = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => [
      name,
      modeOf(join(directory, name)),
    ]),
  )

const openAll = async (directory: string) => {
  const eventStore = openSqliteEventStore(join(directory, 'events.db'))
  const attempts = openSqliteAttemptRecords(join(directory, 'attempts.db'))
  const state = openSqliteDispatcherState(join(directory, 'dispatcher.db'))
  await openFileBlobStore(join(directory, 'blobs')).put(Buffer.from('content'))
  return async () => {
    await eventStore.close()
    attempts.close()
    state.close()
  }
}

describe('the files of the service', () => {
  it('are for its own user alone', async () => {
    const directory = join(await scratchDirectory(), 'data')
    const close = await openAll(directory)
    const modes = modesIn(directory)
    assert.ok('events.db-wal' in modes && 'attempts.db-wal' in modes)
    for (const [name, mode] of Object.entries(modes))
      assert.equal(mode, statSync(join(directory, name)).isDirectory() ? '700' : '600', name)
    assert.equal(modeOf(directory), '700')
    await close()
  })

  it('are made so at the start where an earlier release left them open', async () => {
    const directory = join(await scratchDirectory(), 'data')
    const close = await openAll(directory)
    await close()
    const names = ['events.db', 'attempts.db', 'dispatcher.db']
    for (const name of names) chmodSync(join(directory, name), 0o644)
    for (const name of ['blobs']) chmodSync(join(directory, name), 0o755)
    const closeAgain = await openAll(directory)
    for (const name of names) assert.equal(modeOf(join(directory, name)), '600', name)
    for (const name of ['blobs']) assert.equal(modeOf(join(directory, name)), '700', name)
    await closeAgain()
  })

  it('do not change what else is in a directory, nor the directory of the operator', async () => {
    const directory = await scratchDirectory()
    chmodSync(directory, 0o755)
    writeFileSync(join(directory, 'other'), '', { mode: 0o644 })
    mkdirSync(join(directory, 'more'), { mode: 0o755 })
    await (
      await openAll(directory)
    )()
    assert.deepEqual([directory, join(directory, 'other'), join(directory, 'more')].map(modeOf), [
      '755',
      '644',
      '755',
    ])
  })

  it('keep a mode that is tighter', async () => {
    const path = join(await scratchDirectory(), 'a', 'read-only.db')
    makePrivateDirectory(dirname(path))
    writeFileSync(path, '', { mode: 0o400 })
    makePrivateDatabase(path)
    assert.equal(modeOf(path), '400')
  })
})
