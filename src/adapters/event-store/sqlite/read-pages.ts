import type { Database, Statement } from 'better-sqlite3'
import { parseJson } from '../../../kernel/json/parse.js'
import type { RecordedEvent } from '../../../kernel/ports/event-store.js'
import type { HealthReports } from '../../../kernel/ports/health.js'
import type { LogPage, Page, Pages } from '../paged-reads.js'
import { unreadableEvent } from '../../../kernel/unreadable-event.js'
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
  data: string,
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
}

interface Reading {
  readonly db: Database
  readonly streams: StreamIndex
  readonly texts: ReadTexts
  /** Events after this position may yet be lost, and are not read. */
  readonly durable: () => number
  readonly health: HealthReports
}

export const readPages = ({ db, streams, texts, durable, health }: Reading): ReadPages => {
  const select = (condition: string, order: string) =>
    db
      .prepare<[number, number, number] | [number, number, number, number], Row>(reading(condition, order))
      .raw()
  const ofLog = select('position > ?', 'position')
  const forwards = select('sid = ? AND revision >= ?', 'revision')
  const backwards = select('sid = ? AND revision <= ?', 'revision DESC')
  const ofType = db
    .prepare<[string, number, number], Row>(reading(`${IS_INDEXED_TYPE} AND type = ?`, 'position DESC'))
    .raw()
  const newestFirst = db.prepare<[number, number], Row>(reading('true', 'position DESC')).raw()
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
    ofLog: (after, limit, types, withSeals = false) =>
      readPage(withSeals ? toSealedEvent : toEvent, ofLog, [Number(after), durable(), limit], limit, types),
    backwards: (before, limit, types) => {
      const upTo = before === undefined ? durable() : Math.min(durable(), Number(before) - 1)
      if (UNINDEXED_TYPES.some((type) => types.has(type)))
        return readPage(toEvent, newestFirst, [upTo, limit], limit, types)
      const pages = [...types].map((type) => readPage(toEvent, ofType, [type, upTo, limit], limit))
      const events = pages
        .flatMap((page) => page.events)
        // A page may end early: older events of other types come with the next page.
        .filter(({ position }) => pages.every((page) => page.atEnd || position >= (page.last ?? 0n)))
        .sort((one, other) => Number(other.position - one.position))
      return { events, atEnd: pages.every((page) => page.atEnd), last: events.at(-1)?.position }
    },
    ofStream: (name, range, limit) => {
      const stream = streams.find(name)
      if (stream === undefined) return EMPTY
      if (range.backwards)
        return readPage(
          toEvent,
          backwards,
          [stream.sid, Number(range.from ?? stream.last), durable(), limit],
          limit,
        )
      const from = Number(range.from ?? 0n)
      return from > stream.last
        ? EMPTY
        : readPage(toEvent, forwards, [stream.sid, from, durable(), limit], limit)
    },
  }
}

const reading = (condition: string, order: string): string =>
  `SELECT position, name, revision, id, type, data, metadata, recorded_at, ${SEAL_TEXT}
   FROM events LEFT JOIN streams USING (sid)
   WHERE ${condition} AND position <= ? ORDER BY ${order} LIMIT ?`

const readPage = <Parameters extends unknown[]>(
  toEvent: (row: Row) => RecordedEvent,
  statement: Statement<Parameters, Row>,
  parameters: Parameters,
  limit: number,
  types?: ReadonlySet<string>,
): LogPage => {
  const events: RecordedEvent[] = []
  let rows = 0
  let characters = 0
  let position: number | undefined
  for (const row of statement.iterate(...parameters)) {
    rows += 1
    position = row[0]
    const event = (types?.has(row[4]) ?? true) ? toEvent(row) : undefined
    if (event !== undefined) events.push(event)
    characters += event?.size ?? row[5].length + row[6].length
    if (characters > PAGE_CHARACTERS) break
  }
  const atEnd = rows < limit && characters <= PAGE_CHARACTERS
  return { events, atEnd, last: position === undefined ? undefined : BigInt(position) }
}

const eventOf = (row: Row, texts: ReadTexts): RecordedEvent => {
  const [position, name, revision, id, type, , , recordedAt, seal] = row
  const stream = name ?? ''
  let damage: string | undefined
  try {
    const found = texts(position, row[5], row[6])
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
  } catch {
    damage = 'its data or metadata is not JSON'
  }
  const place = { id, type, stream, revision: wholeOf(revision), position: wholeOf(position) }
  return unreadableEvent({ ...place, recordedAt: new Date(recordedAt) }, damage ?? '')
}

/** A damaged file may have anything in a column. */
const wholeOf = (value: unknown): bigint => BigInt(Math.trunc(Number(value)) || 0)
