import { createHash } from 'node:crypto'
import type { ClickHouseReader, PartCount } from '../../kernel/ports/clickhouse.js'
import { raw, select, sql, statementOf, typed, type Sql } from '../sql.js'
import { ALL_MERGED, isReplicated, partsOf, type MergedRows, type Part } from '../unmerged-rows.js'
import {
  compileSelection,
  DELETED,
  DELETED_KEYS,
  KEY_FIRST,
  readManyCalls,
  SETTINGS,
  type CallSelection,
  type CompiledSelection,
} from './select.js'

export interface CallCount {
  /** Up to the limit. */
  readonly count: number
  readonly has_more: boolean
  /** The bytes of all payload, if requested. */
  readonly bytes: number | null
}

/**
 * How many calls are selected.
 *
 * @throws UnknownField
 */
export const countCalls =
  (reader: ClickHouseReader) =>
  async (selection: CallSelection, limit: number | null, withBytes = false): Promise<CallCount> => {
    const compiled = compileSelection(selection, [])
    const { total, bytes } =
      compiled.isDecidedByCandidates && !withBytes
        ? { total: await countCandidates(reader, compiled), bytes: null }
        : await countMerged(reader, compiled, withBytes ? null : limit, withBytes)
    return { count: Math.min(total, limit ?? Infinity), has_more: limit !== null && total > limit, bytes }
  }

/** Larger sets of keys take too much memory. */
const MAX_KEYS = 1_000_000

/** Reads only calls that may be running, unless many rows are not merged yet. */
const rangeOfRunning = async (
  reader: ClickHouseReader,
  { candidates }: CompiledSelection,
): Promise<readonly Sql[]> => {
  const [row] = await select<{ total: number }>(
    reader,
    sql`SELECT count() AS total FROM (${candidates(sql`call_started_position`)}) ${SETTINGS}`,
  )
  if ((row?.total ?? 0) > MAX_KEYS) return []
  return [sql`(started_at, id) IN (${candidates(sql`call_started_at, call_id`)})`]
}

const countMerged = async (
  reader: ClickHouseReader,
  compiled: CompiledSelection,
  limit: number | null,
  withBytes: boolean,
): Promise<{ readonly total: number; readonly bytes: number | null }> => {
  const range = compiled.isOfRunning ? await rangeOfRunning(reader, compiled) : []
  const [columns, total] = withBytes ? [sql`call_bytes`, sql`sum(call_bytes)`] : [sql`1`, sql`NULL`]
  const limited = limit === null ? sql`` : sql`LIMIT ${typed('UInt64', limit + 1)}`
  const count = (rows: MergedRows) =>
    select<{ total: number; bytes: number | null }>(
      reader,
      sql`SELECT count() AS total, ${total} AS bytes FROM (${compiled.selected(columns, { range, rows })} ${limited}) ${SETTINGS}`,
    )
  const [row] = await (range.length > 0 ? count(ALL_MERGED) : readManyCalls(reader, compiled, count))
  return row ?? { total: 0, bytes: withBytes ? 0 : null }
}

/** Without merging rows, which costs several times as much: counts rows of starts or ends, less deleted calls. */
const countCandidates = async (reader: ClickHouseReader, compiled: CompiledSelection): Promise<number> => {
  const range = [sql`(started_at, id) IN ${DELETED_KEYS}`]
  const [started, [deleted]] = await Promise.all([
    countDistinct(reader, compiled),
    select<{ total: number }>(
      reader,
      sql`SELECT count() AS total FROM (${compiled.selected(sql`1`, { range, visible: DELETED })}) ${KEY_FIRST}`,
    ),
  ])
  return started - (deleted?.total ?? 0)
}

/**
 * A part has one row a call, and rows are inserted in the order of the log. So an event can be in two parts only where
 * their positions overlap: after a crash, until the repeated rows are merged.
 */
const countDistinct = async (reader: ClickHouseReader, compiled: CompiledSelection): Promise<number> => {
  const { candidates } = compiled
  const parts = (await knownCounts(reader, compiled)) ?? (await partCounts(reader, compiled))
  let reached = -1
  for (const { first, last } of parts.toSorted((a, b) => a.first - b.first)) {
    if (first <= reached) {
      const [row] = await select<{ total: number }>(
        reader,
        sql`SELECT uniqExact(call_started_at, call_id) AS total FROM (${candidates(sql`call_started_at, call_id`)}) ${SETTINGS}`,
      )
      return row?.total ?? 0
    }
    reached = last
  }
  return parts.reduce((sum, { calls }) => sum + calls, 0)
}

/** Of all parts as of the position, or of some with all of their rows. */
const partCounts = (
  reader: ClickHouseReader,
  { candidates, candidatePosition }: CompiledSelection,
  names?: readonly string[],
) => {
  const position = raw(candidatePosition)
  const range = names === undefined ? [] : [sql`_part IN ${names}`]
  const { text, parameters } = statementOf(
    sql`SELECT any(call_part_name) AS part, count() AS calls, min(${position}) AS first, max(${position}) AS last
    FROM (${candidates(sql`call_part, call_part_name, ${position}`, range)}) GROUP BY call_part ${SETTINGS}`,
  )
  const all = names === undefined ? {} : { position: LAST_POSITION }
  return reader.query<PartCount & { part: string }>(text, { ...parameters, ...all })
}

/** A `SELECT` besides the two of the statement itself. */
const readsOthers = (statement: string): boolean => statement.split('SELECT').length > 3

const LAST_POSITION = 2n ** 63n - 1n
const NO_CALLS: PartCount = { calls: 0, first: Infinity, last: -1 }

/**
 * Reads only parts that were not counted before, because parts never change. Undefined if parts cannot be told apart, were merged
 * meanwhile, or have rows after the position.
 */
const knownCounts = async (
  reader: ClickHouseReader,
  compiled: CompiledSelection,
): Promise<readonly PartCount[] | undefined> => {
  const { text, parameters } = statementOf(compiled.candidates(sql``))
  // A row of an end has the position of its start too, which may be a later one. Other tables change.
  if (compiled.candidatePosition !== 'call_started_position' || readsOthers(text)) return undefined
  const parts = await partsOf(reader, ['calls'])
  if (parts.length === 0 || isReplicated(parts)) return undefined
  const { position, ...others } = parameters
  const question = JSON.stringify([text, others], (_, value) =>
    typeof value === 'bigint' ? `${value}n` : (value as unknown),
  )
  const counted = createHash('sha256').update(question).digest('base64')
  const keyOf = ({ path, hash }: Part) => [counted, path, hash].join()
  const { counts } = reader.knownParts
  const found = new Map(parts.map((part) => [part.name, counts.get(keyOf(part))]))
  const unknown = parts.filter(({ name }) => found.get(name) === undefined)
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name)
    const rows = await partCounts(reader, compiled, names)
    const active = new Set((await partsOf(reader, ['calls'])).map(keyOf))
    if (unknown.some((part) => !active.has(keyOf(part)))) return undefined
    for (const part of unknown) {
      const count = rows.find((row) => row.part === part.name) ?? NO_CALLS
      counts.set(keyOf(part), count)
      found.set(part.name, count)
    }
  }
  const all = ([...found.values()] as readonly PartCount[]).filter(({ first }) => first <= Number(position))
  return all.every(({ last }) => last <= Number(position)) ? all : undefined
}
