import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { openLogCopy } from '../../../src/adapters/event-store/sqlite/log-copy.js'
import { unpack } from '../../../src/adapters/event-store/sqlite/pack.js'
import { openSqliteLogTree } from '../../../src/adapters/log-tree/sqlite-log-tree.js'
import { makeLogKeys, readLogKeys } from '../../../src/adapters/secrets/log-keys.js'
import { systemClock } from '../../../src/adapters/system/system.js'
import { startSealing } from '../../../src/application/audit/sealing.js'
import { eventChecks } from '../../../src/cli/check-event.js'
import { checkTree } from '../../../src/cli/check-tree.js'
import { pagesOf } from '../../../src/cli/log-digest.js'
import { noHealthReports } from '../../../src/kernel/ports/health.js'
import { append, PROJECT, startOf } from '../../unit/projections/given-log.js'
import { openPackedStore, untilPacked } from '../../unit/adapters/event-store/packed-store.js'
import {
  temporaryDirectory,
  type TemporaryDirectory,
} from '../../unit/adapters/event-store/temporary-directory.js'

const CHANGES = Number(process.env['CHANGES'] ?? 200)
/** More than a tile, so that the tree has two levels. */
const CALLS = 300
const FILES = ['events.db', 'log-tree.db', 'log-keys']

describe('a copy of a sealed log that was changed', () => {
  let directory: TemporaryDirectory
  const at = (...names: readonly string[]) => join(directory.path, ...names)
  before(async () => {
    directory = await temporaryDirectory()
    const { db, store } = openPackedStore(at('events.db'))
    for (let n = 0; n < CALLS; n += 1) {
      await append(store, 'CallStarted', {
        ...startOf(`call-${n}`),
        inputs: { text: randomBytes(60).toString('hex') },
      })
      if (n % 5 === 0)
        await append(store, 'CallRenamed', { project_id: PROJECT, id: `call-${n}`, display_name: `${n}` })
    }
    await untilPacked(db)
    makeLogKeys(at('log-keys'), 'traces.example')
    const seal = async () => {
      const tree = openSqliteLogTree(at('log-tree.db'))
      const log = { info: () => undefined }
      const keys = readLogKeys(at('log-keys'))!
      const ports = { eventStore: store, tree, keys, clock: systemClock, log, health: noHealthReports }
      await (await startSealing(ports)).stop()
    }
    await seal()
    await store.close()
  })
  after(() => directory.remove())

  /** What `tallytree verify` does, without the read models. */
  const verify = async (path: string): Promise<readonly string[]> => {
    const copy = openLogCopy(join(path, 'events.db'))
    try {
      const tree = await checkTree({ directory: path, checkpoint: undefined, verifiers: [] })
      const check = eventChecks(openInMemoryBlobStore())
      const errors: string[] = []
      for (const page of pagesOf(copy))
        for (const written of page) {
          const found = await check(written)
          errors.push(...found.errors.map((error) => `position ${written.position}: ${error}`))
          tree.add(written)
        }
      return [...errors, ...tree.end().errors]
    } finally {
      copy.close()
    }
  }

  const changed = async (
    change: Change,
  ): Promise<{ readonly errors: readonly string[]; readonly told: string }> => {
    const path = at('changed')
    for (const name of FILES) await cp(at(name), join(path, name))
    const db = new Database(join(path, change.file))
    let told: string
    try {
      told = change.make(db)
    } finally {
      db.close()
    }
    const errors = await verify(path).catch((error: unknown) => [`cannot be read: ${String(error)}`])
    await rm(path, { recursive: true })
    return { errors, told }
  }

  it('is the same without a change', async () => {
    assert.deepEqual(await verify(directory.path), [])
    assert.ok((await readFile(at('events.db'))).length > 0)
  })

  it(`is found out for each of ${CHANGES} random changes, which are named`, async () => {
    const missed: string[] = []
    const counts: Record<string, number> = {}
    for (let n = 0; n < CHANGES; n += 1) {
      const [name, change] = Object.entries(CHANGES_BY_NAME)[n % Object.keys(CHANGES_BY_NAME).length]!
      const { errors, told } = await changed(change)
      if (told === '') continue
      counts[name] = (counts[name] ?? 0) + 1
      if (!errors.some((error) => change.names.test(error)))
        missed.push(`${name}: ${told}: ${errors.slice(0, 2).join('; ')}`)
    }
    console.log(`      ${JSON.stringify(counts)}`)
    assert.deepEqual(missed, [])
  }).timeout(CHANGES * 1000)
})

interface Change {
  readonly file: 'events.db' | 'log-tree.db'
  /** Returns what was changed; empty if it changes nothing. */
  readonly make: (db: Database.Database) => string
  /** An error that names the event, the tile or the checkpoint. */
  readonly names: RegExp
}

const EVENT = /^position \d+: /
const TILE = /tile \d+\/\d+ |^position \d+: event \d+ is not the one that was sealed/
const CHECKPOINT = /checkpoint of \d+ events/

const flipped = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes)
  copy[randomInt(copy.length)]! ^= 1 << randomInt(8)
  return copy
}

const flipIn = (
  db: Database.Database,
  table: string,
  column: string,
  type: string,
  where = 'true',
): string => {
  const rows = db
    .prepare<[], [number, Buffer]>(
      `SELECT rowid, CAST(${column} AS BLOB) FROM ${table} WHERE ${where} AND length(${column}) > 0`,
    )
    .raw()
    .all()
  const [rowid, bytes] = rows[randomInt(rows.length)]!
  db.prepare(`UPDATE ${table} SET ${column} = CAST(? AS ${type}) WHERE rowid = ?`).run(flipped(bytes), rowid)
  return `${table}.${column} ${rowid}`
}

const positionsIn = (db: Database.Database): readonly number[] =>
  db.prepare<[], number>('SELECT position FROM events ORDER BY position').pluck().all()

const anyPosition = (db: Database.Database): number => {
  const positions = positionsIn(db)
  return positions[randomInt(positions.length)]!
}

const renumber = (db: Database.Database, from: number, to: number) =>
  db.prepare('UPDATE events SET position = ? WHERE position = ?').run(to, from)

const inEvents = (make: Change['make']): Change => ({ file: 'events.db', make, names: EVENT })
const CHANGES_BY_NAME: Readonly<Record<string, Change>> = {
  data: inEvents((db) => flipIn(db, 'events', 'data', 'TEXT')),
  metadata: inEvents((db) => flipIn(db, 'events', 'metadata', 'TEXT')),
  seal: inEvents((db) => flipIn(db, 'events', 'seal', 'BLOB')),
  id: inEvents((db) => flipIn(db, 'events', 'id', 'TEXT')),
  type: inEvents((db) => flipIn(db, 'events', 'type', 'TEXT')),
  stream: inEvents((db) => flipIn(db, 'streams', 'name', 'TEXT')),
  revision: inEvents((db) => {
    const position = anyPosition(db)
    db.prepare('UPDATE events SET revision = revision + 7 WHERE position = ?').run(position)
    return String(position)
  }),
  time: inEvents((db) => {
    const position = anyPosition(db)
    db.prepare('UPDATE events SET recorded_at = recorded_at + 1 WHERE position = ?').run(position)
    return String(position)
  }),
  pack: inEvents((db) => {
    const contents = () =>
      db
        .prepare<[], [number, number, Buffer]>('SELECT first, last, texts FROM packs')
        .raw()
        .all()
        .map(([first, last, texts]) => {
          const textsAt = unpack(texts)
          return Array.from({ length: last - first + 1 }, (_, n) => textsAt?.(first + n))
        })
    const before = JSON.stringify(contents())
    const told = flipIn(db, 'packs', 'texts', 'BLOB')
    // Brotli ignores some bits.
    return JSON.stringify(contents()) === before ? '' : told
  }),
  removed: inEvents((db) => {
    const position = anyPosition(db)
    db.prepare('DELETE FROM events WHERE position = ?').run(position)
    return String(position)
  }),
  'removed, and the others renumbered': inEvents((db) => {
    const position = anyPosition(db)
    db.prepare('DELETE FROM events WHERE position = ?').run(position)
    for (const one of positionsIn(db)) if (one > position) renumber(db, one, one - 1)
    return String(position)
  }),
  inserted: inEvents((db) => {
    const position = anyPosition(db)
    for (const one of [...positionsIn(db)].reverse()) if (one >= position) renumber(db, one, one + 1)
    db.prepare(
      `INSERT INTO events SELECT ?, sid, revision + 50, id || 'x', type, data, metadata, recorded_at, seal FROM events WHERE position = ?`,
    ).run(position, position + 1)
    return String(position)
  }),
  swapped: inEvents((db) => {
    const [one, other] = [anyPosition(db), anyPosition(db)]
    if (one === other) return ''
    renumber(db, one, 1_000_000)
    renumber(db, other, one)
    renumber(db, 1_000_000, other)
    return `${one} ${other}`
  }),
  renumbered: inEvents((db) => {
    const position = anyPosition(db)
    renumber(db, position, 2_000_000)
    return String(position)
  }),
  'the end cut off': {
    file: 'events.db',
    make: (db) => {
      const position = anyPosition(db)
      db.prepare('DELETE FROM events WHERE position >= ?').run(position)
      return String(position)
    },
    names: /checkpoint of \d+ events: its end is missing|^position \d+: /,
  },
  tile: { file: 'log-tree.db', make: (db) => flipIn(db, 'tiles', 'hashes', 'BLOB'), names: TILE },
  'the position of a tile': {
    file: 'log-tree.db',
    make: (db) => {
      db.exec('UPDATE tiles SET position = position + 1 WHERE level = 0 AND number = 0')
      return 'tile 0/0'
    },
    names: TILE,
  },
  'a tile removed': {
    file: 'log-tree.db',
    make: (db) => {
      const rows = db.prepare<[], number>('SELECT rowid FROM tiles').pluck().all()
      db.prepare('DELETE FROM tiles WHERE rowid = ?').run(rows[randomInt(rows.length)]!)
      return 'tile'
    },
    names: /tile \d+\/\d+ |checkpoint of \d+ events/,
  },
  signature: {
    file: 'log-tree.db',
    make: (db) => flipIn(db, 'checkpoints', 'note', 'TEXT'),
    names: CHECKPOINT,
  },
  'the size of a checkpoint': {
    file: 'log-tree.db',
    make: (db) => {
      db.exec('UPDATE checkpoints SET size = size + 1')
      return 'all'
    },
    names: CHECKPOINT,
  },
  'the time of a checkpoint': {
    file: 'log-tree.db',
    make: (db) => {
      db.exec('UPDATE checkpoints SET signed_at = signed_at + 5000')
      return 'all'
    },
    names: CHECKPOINT,
  },
}
