import Database from 'better-sqlite3'
import { parseJson } from '../../../kernel/json/parse.js'
import type { EventPlace, Position, RecordedEvent } from '../../../kernel/ports/event-store.js'
import type { HealthReports } from '../../../kernel/ports/health.js'
import type { LogPage, Page, Pages } from '../paged-reads.js'
import { unreadableEvent } from '../../../kernel/unreadable-event.js'
import { BY_TYPE, DAMAGED_PAGE, eventPlaces, isCorrupt, orElse, type IndexedPlace } from './damaged-pages.js'
import type { ReadTexts } from './event-texts.js'
import { rowDamage, SEAL_TEXT } from './row-seal.js'
import { findsByIdAlone, IS_INDEXED_TYPE, UNINDEXED_TYPES } from './schema.js'
import type { StreamIndex } from './stream-index.js'

type Row = readonly [
  position: number,
  stream: string | null,
  revision: number,
  id: string,
  type: string,
  /** Null if its page is damaged. */
  data: string | null,
  metadata: string,
  recordedAt: number,
  seal: string,
]

/** Characters after which a page ends early: some events are large, and a page is read without a pause. */
const PAGE_CHARACTERS = 1_048_576

const EMPTY: Page = { events: [], atEnd: true }

export interface ReadPages extends Pages {
  /** The first event with an id; undefined where the file can't find one without its stream. */
  readonly withId: ((id: string) => RecordedEvent | undefined) | undefined
  /** Reads no texts, so it does not find out whether they are damaged. */
  readonly places: (after: Position, limit: number) => readonly EventPlace[]
}

interface Reading {
  readonly db: Database.Database
  readonly streams: StreamIndex
  readonly texts: ReadTexts
  /** Events after this position may yet be lost, and are not read. */
  readonly durable: () => number
  readonly health: HealthReports
}

export const readPages = ({ db, streams, texts, durable, health }: Reading): ReadPages => {
  const places = eventPlaces(db)
  const single = db.prepare<[number, number, number], Row>(reading('position = ?', 'position')).raw()
  const singleRows = function* (found: readonly IndexedPlace[]): Iterable<Row> {
    for (const place of found)
      yield orElse(undefined, () => single.get(place.position, place.position, 1)) ?? damagedRow(place)
  }
  const select = (condition: string, order: string) => {
    const statement = db.prepare<(string | number)[], Row>(reading(condition, order)).raw()
    const found = places.where(condition, order)
    return (...parameters: (string | number)[]): Rows => ({
      rows: () => statement.iterate(...parameters),
      single: () => singleRows(found(...parameters)),
    })
  }
  const inLog = db.prepare<[number, number, number], Row>(reading('position > ?', 'position')).raw()
  const ofLog = (after: number, upTo: number, limit: number): Rows => ({
    rows: () => inOrder(inLog.iterate(after, upTo, limit), { after, upTo, limit }, places.hasEachPosition),
    single: () => singleRows(places.inLog(after, upTo, limit)),
  })
  const forwards = select('sid = ? AND revision >= ?', 'revision')
  const backwards = select('sid = ? AND revision <= ?', 'revision DESC')
  const positionsOf = db
    .prepare<[string, number, number], number>(
      `SELECT position FROM events INDEXED BY ${BY_TYPE}
       WHERE ${IS_INDEXED_TYPE} AND type = ? AND position <= ? ORDER BY position DESC LIMIT ?`,
    )
    .pluck()
  const newestOf = (types: ReadonlySet<string>, upTo: number, limit: number): Rows => {
    const found = [...types]
      .flatMap((type) =>
        positionsOf
          .all(type, upTo, limit)
          .map((position): IndexedPlace => ({ position, sid: 0, stream: '', revision: 0, type })),
      )
      .sort((one, other) => other.position - one.position)
      .slice(0, limit)
    const rows = () => singleRows(found)
    return { rows, single: rows }
  }
  const newestFirst = select('true', 'position DESC')
  const placesInLog = db.prepare<[number, number, number], PlaceRow>(PLACES).raw()
  const withId = db.prepare<[string, number, number], Row>(reading('id = ?', 'sid')).raw()
  const toEvent = (row: Row): RecordedEvent => {
    const event = eventOf(row, texts)
    if (event.unreadable !== undefined) health.unreadable?.(event)
    return event
  }
  const toSealedEvent = (row: Row): RecordedEvent => ({
    ...toEvent(row),
    seal: row[8] === '' ? undefined : Buffer.from(row[8], 'hex'),
  })

  return {
    withId: findsByIdAlone(db)
      ? (id) => {
          const row = withId.get(id, durable(), 1)
          return row && toEvent(row)
        }
      : undefined,
    places: (position, limit) => {
      const range = { after: Number(position), upTo: durable(), limit }
      const rows = placesInLog.all(range.after, range.upTo, limit)
      return [...inOrder(rows, range, places.hasEachPosition)].map(placeOf)
    },
    ofLog: (after, limit, types, withSeals = false) =>
      readPage(withSeals ? toSealedEvent : toEvent, ofLog(Number(after), durable(), limit), limit, types),
    backwards: (before, limit, types, withSeals = false) => {
      const upTo = before === undefined ? durable() : Math.min(durable(), Number(before) - 1)
      const rows =
        types === undefined || UNINDEXED_TYPES.some((type) => types.has(type))
          ? newestFirst(upTo, limit)
          : newestOf(types, upTo, limit)
      return readPage(withSeals ? toSealedEvent : toEvent, rows, limit, types)
    },
    ofStream: (name, range, limit) => {
      const stream = streams.find(name)
      if (stream === undefined) return EMPTY
      const from = Number(range.from ?? (range.backwards ? stream.last : 0n))
      const read = range.withSeals ? toSealedEvent : toEvent
      return streams.whileReading(name, () => {
        if (range.backwards) return readPage(read, backwards(stream.sid, from, durable(), limit), limit)
        if (from > stream.last) return EMPTY
        return readPage(read, forwards(stream.sid, from, durable(), limit), limit)
      })
    },
  }
}

const reading = (condition: string, order: string): string =>
  `SELECT position, name, revision, id, type, data, metadata, recorded_at, ${SEAL_TEXT}
   FROM events LEFT JOIN streams USING (sid)
   WHERE ${condition} AND position <= ? ORDER BY ${order} LIMIT ?`

type PlaceRow = readonly [
  position: number,
  stream: string | null,
  revision: number,
  id: string,
  type: string,
  /** Empty for none. Reading text is cheaper than reading bytes. */
  digest: string,
]

const PLACES = `
  SELECT position, name, revision, id, type, hex(substr(seal, 17, 32))
  FROM events LEFT JOIN streams USING (sid) WHERE position > ? AND position <= ? ORDER BY position LIMIT ?
`

const placeOf = ([position, stream, revision, id, type, digest]: PlaceRow): EventPlace => ({
  position: BigInt(position),
  stream: stream ?? '',
  revision: BigInt(revision),
  id,
  type,
  digest: digest === '' ? undefined : Buffer.from(digest, 'hex'),
})

const damagedRow = ({ position, stream, revision, type }: IndexedPlace): Row => {
  const [id, metadata, recordedAt, seal] = ['', '', 0, '']
  return [position, stream, revision, id, type, null, metadata, recordedAt, seal]
}

interface Rows {
  readonly rows: () => Iterable<Row>
  /** The same rows, read one by one, with a placeholder for each row of a damaged page. */
  readonly single: () => Iterable<Row>
}

/** @throws SqliteError as for a damaged page, if a row is missing or has another position */
const inOrder = function* <Read extends readonly [position: number, ...rest: unknown[]]>(
  all: Iterable<Read>,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
  hasEachPosition: () => boolean,
): Iterable<Read> {
  const missing = () => new Database.SqliteError('rows are missing', 'SQLITE_CORRUPT')
  let last = after
  let rows = 0
  for (const row of all) {
    const isNext = row[0] === last + 1 || (row[0] > last && !hasEachPosition())
    if (!isNext) throw missing()
    last = row[0]
    rows += 1
    yield row
  }
  if (rows < limit && last < upTo) throw missing()
}

const readPage = (
  toEvent: (row: Row) => RecordedEvent,
  { rows, single }: Rows,
  limit: number,
  types?: ReadonlySet<string>,
): LogPage => {
  try {
    return pageOf(toEvent, rows(), limit, types)
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return pageOf(toEvent, single(), limit, types)
  }
}

const pageOf = (
  toEvent: (row: Row) => RecordedEvent,
  all: Iterable<Row>,
  limit: number,
  types?: ReadonlySet<string>,
): LogPage => {
  const events: RecordedEvent[] = []
  let rows = 0
  let characters = 0
  let position: number | undefined
  for (const row of all) {
    rows += 1
    position = row[0]
    const event = (types?.has(row[4]) ?? true) ? toEvent(row) : undefined
    if (event !== undefined) events.push(event)
    characters += event?.size ?? (row[5]?.length ?? 0) + row[6].length
    if (characters > PAGE_CHARACTERS) break
  }
  const atEnd = rows < limit && characters <= PAGE_CHARACTERS
  return { events, atEnd, last: position === undefined ? undefined : BigInt(position) }
}

const eventOf = (row: Row, texts: ReadTexts): RecordedEvent => {
  const [position, name, revision, id, type, data, metadata, recordedAt, seal] = row
  const stream = name ?? ''
  const place = { id, type, stream, revision: wholeOf(revision), position: wholeOf(position) }
  const unreadable = (damage: string) =>
    unreadableEvent({ ...place, recordedAt: new Date(recordedAt) }, damage)
  if (data === null) return unreadable(DAMAGED_PAGE)
  let damage: string | undefined
  try {
    const found = texts(position, data, metadata)
    damage =
      found === undefined
        ? 'its pack is damaged'
        : rowDamage(seal, { position, stream, revision, id, type, recordedAt }, found)
    if (found !== undefined && damage === undefined)
      return {
        id,
        type,
        data: parseJson(found.data) as RecordedEvent['data'],
        metadata: JSON.parse(found.metadata) as RecordedEvent['metadata'],
        stream,
        revision: BigInt(revision),
        position: BigInt(position),
        recordedAt: new Date(recordedAt),
        size: found.data.length + found.metadata.length,
      }
  } catch (error) {
    damage = isCorrupt(error) ? DAMAGED_PAGE : 'its data or metadata is not JSON'
  }
  return unreadable(damage ?? '')
}

/** A damaged file may have anything in a column. */
const wholeOf = (value: unknown): bigint => BigInt(Math.trunc(Number(value)) || 0)
