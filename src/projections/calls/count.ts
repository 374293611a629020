import { createHash } from 'node:crypto'
import type { ClickHouseReader, PartCount } from '../../kernel/ports/clickhouse.js'
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
  { candidates, parameters }: CompiledSelection,
): Promise<readonly string[]> => {
  const [row] = await reader.query<{ total: number }>(
    `SELECT count() AS total FROM (${candidates('call_started_position')}) ${SETTINGS}`,
    parameters,
  )
  if ((row?.total ?? 0) > MAX_KEYS) return []
  return [`(started_at, id) IN (${candidates('call_started_at, call_id')})`]
}

const countMerged = async (
  reader: ClickHouseReader,
  compiled: CompiledSelection,
  limit: number | null,
  withBytes: boolean,
): Promise<{ readonly total: number; readonly bytes: number | null }> => {
  const { selected, parameters } = compiled
  const range = compiled.isOfRunning ? await rangeOfRunning(reader, compiled) : []
  const count = (rows: MergedRows) =>
    reader.query<{ total: number; bytes: number | null }>(
      `SELECT count() AS total, ${withBytes ? 'sum(call_bytes)' : 'NULL'} AS bytes
      FROM (${selected(withBytes ? 'call_bytes' : '1', { range, rows })} ${limit === null ? '' : 'LIMIT {counted:UInt64}'}) ${SETTINGS}`,
      { ...parameters, ...rows.parameters, ...(limit === null ? {} : { counted: limit + 1 }) },
    )
  const [row] = await (range.length > 0 ? count(ALL_MERGED) : readManyCalls(reader, compiled, count))
  return row ?? { total: 0, bytes: withBytes ? 0 : null }
}

/** Without merging rows, which costs several times as much: counts rows of starts or ends, less deleted calls. */
const countCandidates = async (reader: ClickHouseReader, compiled: CompiledSelection): Promise<number> => {
  const range = [`(started_at, id) IN ${DELETED_KEYS}`]
  const [started, [deleted]] = await Promise.all([
    countDistinct(reader, compiled),
    reader.query<{ total: number }>(
      `SELECT count() AS total FROM (${compiled.selected('1', { range, visible: DELETED })}) ${KEY_FIRST}`,
      compiled.parameters,
    ),
  ])
  return started - (deleted?.total ?? 0)
}

/**
 * A part has one row a call, and rows are inserted in the order of the log. So an event can be in two parts only where
 * their positions overlap: after a crash, until the repeated rows are merged.
 */
const countDistinct = async (reader: ClickHouseReader, compiled: CompiledSelection): Promise<number> => {
  const { candidates, parameters } = compiled
  const parts = (await knownCounts(reader, compiled)) ?? (await partCounts(reader, compiled, parameters))
  let reached = -1
  for (const { first, last } of parts.toSorted((a, b) => a.first - b.first)) {
    if (first <= reached) {
      const [row] = await reader.query<{ total: number }>(
        `SELECT uniqExact(call_started_at, call_id) AS total FROM (${candidates('call_started_at, call_id')}) ${SETTINGS}`,
        parameters,
      )
      return row?.total ?? 0
    }
    reached = last
  }
  return parts.reduce((sum, { calls }) => sum + calls, 0)
}

const partCounts = (
  reader: ClickHouseReader,
  { candidates, candidatePosition }: CompiledSelection,
  parameters: CompiledSelection['parameters'],
  range: readonly string[] = [],
) =>
  reader.query<PartCount & { part: string }>(
    `SELECT any(call_part_name) AS part, count() AS calls, min(${candidatePosition}) AS first,
      max(${candidatePosition}) AS last
    FROM (${candidates(`call_part, call_part_name, ${candidatePosition}`, range)}) GROUP BY call_part ${SETTINGS}`,
    parameters,
  )

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
  const statement = compiled.candidates('')
  // A row of an end has the position of its start too, which may be a later one. Other tables change.
  if (compiled.candidatePosition !== 'call_started_position' || readsOthers(statement)) return undefined
  const parts = await partsOf(reader, ['calls'])
  if (parts.length === 0 || isReplicated(parts)) return undefined
  const { position, ...parameters } = compiled.parameters
  const question = JSON.stringify([statement, parameters], (_, value) =>
    typeof value === 'bigint' ? `${value}n` : (value as unknown),
  )
  const counted = createHash('sha256').update(question).digest('base64')
  const keyOf = ({ path, hash }: Part) => [counted, path, hash].join()
  const { counts } = reader.knownParts
  const found = new Map(parts.map((part) => [part.name, counts.get(keyOf(part))]))
  const unknown = parts.filter(({ name }) => found.get(name) === undefined)
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name)
    const all = { ...parameters, position: LAST_POSITION, parts: names }
    const rows = await partCounts(reader, compiled, all, ['_part IN {parts:Array(String)}'])
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
