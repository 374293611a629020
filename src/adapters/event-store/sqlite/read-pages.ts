import type { Database, Statement } from 'better-sqlite3'
import { parseJson } from '../../../kernel/json/parse.js'
import type { RecordedEvent } from '../../../kernel/ports/event-store.js'
import type { LogPage, Page, Pages } from '../paged-reads.js'
import { eventTexts, type ReadTexts } from './event-texts.js'
import { findsByIdAlone, IS_INDEXED_TYPE, UNINDEXED_TYPES } from './schema.js'
import type { StreamIndex } from './stream-index.js'

type Row = readonly [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  data: string,
  metadata: string,
  recordedAt: number,
]

/** Characters after which a page ends early: some events are large, and a page is read without a pause. */
const PAGE_CHARACTERS = 1_048_576

const EMPTY: Page = { events: [], atEnd: true }

export interface ReadPages extends Pages {
  /** The first event with an id; undefined where the file can't find one without its stream. */
  readonly withId: ((id: string) => RecordedEvent | undefined) | undefined
}

/** Reads events up to the position that `durable` answers: those behind it may yet be lost. */
export const readPages = (db: Database, streams: StreamIndex, durable: () => number): ReadPages => {
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
  const texts = eventTexts(db)

  return {
    withId: findsByIdAlone(db)
      ? (id) => {
          const row = withId.get(id, durable(), 1)
          return row && toEvent(row, texts)
        }
      : undefined,
    ofLog: (after, limit, types) => readPage(texts, ofLog, [Number(after), durable(), limit], limit, types),
    backwards: (before, limit, types) => {
      const upTo = before === undefined ? durable() : Math.min(durable(), Number(before) - 1)
      if (UNINDEXED_TYPES.some((type) => types.has(type)))
        return readPage(texts, newestFirst, [upTo, limit], limit, types)
      const pages = [...types].map((type) => readPage(texts, ofType, [type, upTo, limit], limit))
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
          texts,
          backwards,
          [stream.sid, Number(range.from ?? stream.last), durable(), limit],
          limit,
        )
      const from = Number(range.from ?? 0n)
      return from > stream.last
        ? EMPTY
        : readPage(texts, forwards, [stream.sid, from, durable(), limit], limit)
    },
  }
}

const reading = (condition: string, order: string): string =>
  `SELECT position, name, revision, id, type, data, metadata, recorded_at
   FROM events CROSS JOIN streams USING (sid)
   WHERE ${condition} AND position <= ? ORDER BY ${order} LIMIT ?`

const readPage = <Parameters extends unknown[]>(
  texts: ReadTexts,
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
    const event = (types?.has(row[4]) ?? true) ? toEvent(row, texts) : undefined
    if (event !== undefined) events.push(event)
    characters += event?.size ?? row[5].length + row[6].length
    if (characters > PAGE_CHARACTERS) break
  }
  const atEnd = rows < limit && characters <= PAGE_CHARACTERS
  return { events, atEnd, last: position === undefined ? undefined : BigInt(position) }
}

const toEvent = (row: Row, texts: ReadTexts): RecordedEvent => {
  const [position, stream, revision, id, type, , , recordedAt] = row
  const { data, metadata } = texts(position, row[5], row[6])
  return {
    id,
    type,
    data: parseJson(data) as RecordedEvent['data'],
    metadata: JSON.parse(metadata) as RecordedEvent['metadata'],
    stream,
    revision: BigInt(revision),
    position: BigInt(position),
    recordedAt: new Date(recordedAt),
    size: data.length + metadata.length,
  }
}
