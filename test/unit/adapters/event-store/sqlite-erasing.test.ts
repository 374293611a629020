import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openLogCopy } from '../../../../src/adapters/event-store/sqlite/log-copy.js'
import { unpack } from '../../../../src/adapters/event-store/sqlite/pack.js'
import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { isErased } from '../../../../src/kernel/event-seal.js'
import type { EventStore, NewEvent, Position } from '../../../../src/kernel/ports/event-store.js'
import { arbitraryEvent, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { collect } from '../../../contract/event-store/collect.js'
import { each } from '../../../contract/event-store/erasing.js'
import { EAGER, openPackedStore, packedIn, untilPacked } from './packed-store.js'
import { temporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'

const LEFT = { erased: true }
/** Large events are on overflow pages; the smallest share a page with many. */
const LENGTHS = [0, 1, 3, 20, 100, 900, 2500]
const TYPES = ['CallStarted', 'CallEnded', 'FeedbackAdded', 'CallStarted']

const planted = (n: number): NewEvent => {
  const parts = Array.from({ length: 1 + LENGTHS[n % LENGTHS.length]! }, (_, at) => `planted-${n}-${at};`)
  return arbitraryEvent({ type: TYPES[n % TYPES.length]!, data: { n, text: parts.join('') } })
}

const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/planted-(\d+)-/g)].map(([, n]) => Number(n))

const PIECE = 24

describe('erasing in the file of a log', () => {
  let directory: TemporaryDirectory
  let path: string
  beforeEach(async () => {
    directory = await temporaryDirectory()
    path = join(directory.path, 'events.db')
  })
  afterEach(() => directory.remove())

  const bytesOfFiles = () =>
    [path, `${path}-wal`].filter(existsSync).map((file) => readFileSync(file).toString('latin1'))

  /** The numbers of the planted texts in every byte of the files, and in the packs. */
  const found = (db: Database.Database): ReadonlySet<number> => {
    const packed = packsIn(db).flatMap((texts) => {
      const textsAt = unpack(texts)!
      return packedIn(db).map((position) => textsAt(position)?.data ?? '')
    })
    return new Set([...bytesOfFiles(), ...packed].flatMap(numbersIn))
  }

  const packsIn = (db: Database.Database) => db.prepare<[], Buffer>('SELECT texts FROM packs').pluck().all()

  const appendPlanted = async (store: EventStore, from: number, to: number) => {
    const positions = new Map<number, Position>()
    for (let n = from; n < to; n += 1) {
      const { position } = await store.append(arbitraryStream(), 'none', [planted(n)])
      positions.set(n, position!)
    }
    return positions
  }

  const erase = (store: EventStore, positions: Iterable<Position>) =>
    store.erase!(each([...positions].map((position) => ({ position, data: LEFT }))))

  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at)

  it('leaves nothing of the texts in the files: of rows, of packs, and of what was just appended', async () => {
    const { db, store } = openPackedStore(path, { newest: 60 })
    const positions = await appendPlanted(store, 0, 400)
    await untilPacked(db, { ...EAGER, newest: 60 })
    for (const [n, position] of await appendPlanted(store, 400, 440)) positions.set(n, position)
    assert.deepEqual(found(db), new Set(numbers(0, 440)))
    assert.ok(packedIn(db).length > 100)
    const isErasedNumber = (n: number) => n % 3 !== 0
    const erased = numbers(0, 440).filter(isErasedNumber)
    const formerPacks = packsIn(db)
    const { events, bytes } = await erase(
      store,
      erased.map((n) => positions.get(n)!),
    )

    assert.equal(events, erased.length)
    assert.ok(bytes > erased.length * 10)
    const left = numbers(0, 440).filter((n) => !isErasedNumber(n))
    assert.deepEqual(
      [...found(db)].sort((one, other) => one - other),
      left,
    )
    assertNoPieces(formerPacks, packsIn(db), bytesOfFiles())
    const read = await collect(store.readAll({ withSeals: true }))
    assert.deepEqual(
      read.map(({ seal }) => isErased(seal!)),
      numbers(0, 440).map(isErasedNumber),
    )
    assert.ok(read.every(({ unreadable }) => unreadable === undefined))
    await store.close()
  })

  it('leaves nothing in a file that was packed by a release which did not overwrite what it deleted', async () => {
    const opened = openPackedStore(path, { newest: 10 })
    opened.db.pragma('secure_delete = OFF')
    opened.db.pragma('application_id = 0')
    const positions = await appendPlanted(opened.store, 0, 300)
    await untilPacked(opened.db, { ...EAGER, newest: 10 })
    await opened.store.close()

    const { db, store } = openPackedStore(path, { newest: 10 })
    await erase(store, positions.values())
    assert.deepEqual([...found(db)], [])
    await store.close()
  })

  it('keeps the leaves of the tree, and a copy has them too', async () => {
    const { db, store } = openPackedStore(path)
    const positions = await appendPlanted(store, 0, 40)
    await untilPacked(db)
    const before = await store.readPlaces!(0n, 100)
    await erase(store, positions.values())
    assert.deepEqual(await store.readPlaces!(0n, 100), before)

    const copyPath = join(directory.path, 'copy.db')
    const copy = openLogCopy(copyPath)
    copy.write(await collect(store.readAll({ withSeals: true })))
    copy.close()
    const copied = openSqliteEventStore(copyPath)
    assert.deepEqual(await copied.readPlaces!(0n, 100), before)
    assert.ok((await collect(copied.readAll())).every(({ unreadable }) => unreadable === undefined))
    await copied.close()
    await store.close()
  })

  it('seals an event of an earlier release first', async () => {
    const written = openSqliteEventStore(path)
    const positions = await appendPlanted(written, 0, 10)
    await written.close()
    const earlier = new Database(path)
    earlier.exec('UPDATE events SET seal = NULL')
    earlier.close()

    const store = openSqliteEventStore(path)
    await erase(store, [positions.get(3)!])
    const seals = (await collect(store.readAll({ withSeals: true }))).map(
      ({ seal }) => seal && isErased(seal),
    )
    assert.deepEqual(
      seals,
      numbers(0, 10).map((n) => (n === 3 ? true : undefined)),
    )
    await store.close()
  })

  it('erases a damaged event, which stays unreadable', async () => {
    const written = openSqliteEventStore(path)
    const positions = await appendPlanted(written, 0, 5)
    await written.close()
    const damaged = new Database(path)
    damaged.exec('UPDATE events SET data = replace(data, \'"n":2\', \'"n":9\') WHERE position = 3')
    damaged.close()

    const store = openSqliteEventStore(path)
    await erase(store, positions.values())
    assert.deepEqual(
      (await collect(store.readAll())).map(({ unreadable }) => unreadable),
      [undefined, undefined, 'it is not as it was written', undefined, undefined],
    )
    assert.deepEqual(bytesOfFiles().flatMap(numbersIn), [])
    await store.close()
  })

  it('refuses a position that the log does not have, and erases the others', async () => {
    const store = openSqliteEventStore(path)
    const positions = await appendPlanted(store, 0, 3)
    await assert.rejects(erase(store, [99n, ...positions.values()]), /no event at position 99/)
    assert.deepEqual(bytesOfFiles().flatMap(numbersIn), [])
    await store.close()
  })

  it('stops when the store is closed, and is finished by a repeat', async () => {
    const { store } = openPackedStore(path)
    const positions = await appendPlanted(store, 0, 300)
    const erasing = erase(store, positions.values())
    const closed = store.close()
    await assert.rejects(erasing, /the event store is closed/)
    await closed

    const again = openPackedStore(path)
    const { events } = await erase(again.store, positions.values())
    assert.ok(events <= 300)
    assert.deepEqual([...found(again.db)], [])
    await again.store.close()
  })
})

/** No piece of a former pack that the present ones do not have. */
const assertNoPieces = (
  former: readonly Buffer[],
  present: readonly Buffer[],
  files: readonly string[],
): void => {
  const kept = present.map((texts) => texts.toString('latin1'))
  const pieces = former
    .map((texts) => texts.toString('latin1'))
    .flatMap((text) =>
      Array.from({ length: Math.floor(text.length / PIECE) }, (_, at) =>
        text.slice(at * PIECE, (at + 1) * PIECE),
      ),
    )
  const isTelling = (piece: string) => new Set(piece).size > PIECE / 2
  const gone = pieces.filter((piece) => isTelling(piece) && !kept.some((text) => text.includes(piece)))
  assert.ok(gone.length > 100)
  assert.deepEqual(
    gone.filter((piece) => files.some((file) => file.includes(piece))),
    [],
  )
}
