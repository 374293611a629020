import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openSqliteAttemptRecords } from '../../../src/adapters/attempt-records/sqlite-attempt-records.js'
import { openFileBlobStore } from '../../../src/adapters/blobs/file-blob-store.js'
import { openEmbeddedClickHouse } from '../../../src/adapters/clickhouse/embedded.js'
import { openSqliteDispatcherState } from '../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { openSqliteSecretStore } from '../../../src/adapters/secrets/sqlite-secret-store.js'
import { startupMessage } from '../../../src/composition/startup-errors.js'
import { listen } from '../../../src/api/server/http-server.js'
import { openOrRecreate } from '../../../src/adapters/dispatch-state/open-or-recreate.js'
import { keyRingOf } from '../../../src/composition/secrets.js'
import { openWebhookSender } from '../../../src/composition/webhook-sender.js'
import { readConfig } from '../../../src/config.js'

describe('what stops the program from starting', () => {
  let directory: string
  let file: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-start-'))
    file = join(directory, 'file')
    await writeFile(file, 'nothing that SQLite knows'.repeat(1000))
  })
  afterEach(() => rm(directory, { recursive: true }))

  const isSaid = async (start: () => unknown, sentence: RegExp): Promise<void> => {
    await assert.rejects(
      async () => start(),
      (error: unknown) => {
        assert.match(startupMessage(error), sentence)
        assert.doesNotMatch(startupMessage(error), /\n/)
        return true
      },
    )
  }

  it('is said, where there is no such host', () =>
    isSaid(
      () => listen(() => undefined, { host: '256.1.1.1', port: 0 }),
      /256\.1\.1\.1:0: the host name does not resolve; set TALLYTREE_HOST/,
    ))

  it('is said of the data directory, where that is a file', () =>
    isSaid(() => openFileBlobStore(file), /^TALLYTREE_DATA_DIR: .*E(EXIST|NOTDIR).*file/))

  it('is said of the engine, where another process has its files', () =>
    isSaid(() => {
      throw Object.assign(new Error('no connection'), { name: 'ChdbConnectionError' })
    }, /^TALLYTREE_DATA_DIR: .*another process may be using them \(no connection\); if they are corrupt, delete clickhouse\//))

  it('is said of the log, where it is none', () =>
    isSaid(() => openSqliteEventStore(file), /file: cannot open the event log \(SQLITE_NOTADB/))

  it('is said of each database by its name, where that is a directory', async () => {
    const cannotOpen = (path: string) => new RegExp(`${path}: .*unable to open database file`)
    const path = join(directory, 'taken')
    await mkdir(path)
    await isSaid(() => openSqliteEventStore(path), cannotOpen(path))
    for (const open of [openSqliteDispatcherState, openSqliteAttemptRecords] as ((path: string) => unknown)[])
      await isSaid(() => openOrRecreate(path, open, { warn: () => undefined }), cannotOpen(path))
  })

  it('is said of the engine, where its directory is none, with what makes it anew', () =>
    isSaid(() => openEmbeddedClickHouse(file), /^TALLYTREE_DATA_DIR: [^;]*file[^;]*; .*delete clickhouse\//))

  it('is said of the secrets, where they are none', () =>
    isSaid(
      () => openSqliteSecretStore(file, keyRingOf(readConfig({ TALLYTREE_DATA_DIR: directory }))),
      /file: .* failed \(SQLITE_NOTADB/,
    ))

  it('is said of the log of a newer program, with the layout that is known', () => {
    const path = join(directory, 'newer.db')
    const db = new Database(path)
    db.pragma('user_version = 99')
    db.close()
    return isSaid(
      () => openSqliteEventStore(path),
      /the event log has schema version 99, this release supports \d+/,
    )
  })

  it('is said of the file of certificates, and of no other', () => {
    const config = readConfig({ TALLYTREE_WEBHOOK_CA_FILE: join(directory, 'none.pem') })
    return isSaid(() => openWebhookSender(config, () => ''), /^TALLYTREE_WEBHOOK_CA_FILE: /)
  })

  it('has its stack, where nobody foresaw it', () =>
    assert.match(startupMessage(new Error('odd')), /^Error: odd\n +at /))
})
