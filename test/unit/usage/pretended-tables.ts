import type { ClickHouseReader, Rows, SqlParameters } from '../../../src/domain/ports/clickhouse.js'
import type { CallColumnName } from '../../../src/projections/calls/columns.js'
import type { PriceColumn } from '../../../src/projections/prices/price-row.js'
import { SOURCES, type UsageFact } from '../../../src/projections/usage/usage-fact.js'
import type { Filter, JsonObject } from '../../support/oracle/operations.js'
import { selects } from '../../support/oracle/select.js'
import type { Started } from '../../support/oracle/started.js'
import { nativeBlock } from './native-writer.js'
import type { Tables } from './handling.js'

type Payload = 'inputs' | 'output'
type CallRow = Readonly<Record<Exclude<CallColumnName, Payload>, string | null> & Record<Payload, unknown>>

type PriceRow = Readonly<Record<PriceColumn, string | null>>

interface Chosen {
  readonly project_id: string
  readonly position: string
  readonly usage_reporting: string
}

/**
 * Stands in for ClickHouse where the SQL itself is not in question: rows lie as inserted, repeats not yet merged, and
 * come in blocks of so many rows and chunks of so many bytes.
 */
export const pretendedTables = (blockRows: number, chunkBytes: number): Tables => {
  const facts: UsageFact[] = []
  const chosen: Chosen[] = []
  const calls = new Map<string, CallRow>()
  const prices = new Map<string, PriceRow>()

  const insert = async ({ table, columns, values }: Rows): Promise<void> => {
    const rows = values.map((row): unknown =>
      Object.fromEntries(columns.map((column, index) => [column, row[index]])),
    )
    if (table === 'usage_facts') facts.push(...(rows as UsageFact[]))
    else if (table === 'usage_reporting') chosen.push(...(rows as Chosen[]))
    else if (table === 'calls') for (const row of rows as CallRow[]) coalesce(calls, row.id!, row)
    else if (table === 'call_index') return
    else if (table === 'prices') for (const row of rows as PriceRow[]) coalesce(prices, row.id!, row)
    else throw new Error(`no table ${table}`)
  }

  const answer = (sql: string, parameters: SqlParameters): readonly unknown[] => {
    if (sql.includes('AS changed')) return [{ changed: String(lastChange([...prices.values()])) }]
    if (sql.includes('FROM prices')) return pricesAt([...prices.values()], parameters)
    if (sql.includes('FROM usage_reporting')) return reportingAt(chosen, parameters)
    if (sql.includes('max(position)')) return [version(facts, parameters)]
    if (sql.includes('AS version')) return [versionOf(facts, parameters)]
    if (!sql.includes('FROM calls')) return sizes(facts, parameters)
    const matching = matchingCalls([...calls.values()], sql, parameters)
    return [{ total: matching.length }]
  }

  const matchingBytes = (sql: string, parameters: SqlParameters): Buffer => {
    const matching = matchingCalls([...calls.values()], sql, parameters)
    const rows = matching.slice(0, Number(parameters['limit']))
    return nativeBlock(rows.length, [
      { type: 'String', values: rows.map(({ id }) => id!) },
      { type: 'String', values: rows.map(({ trace_id }) => trace_id!) },
      { type: 'UInt32', values: rows.map(({ id }) => collidingHash(id!)) },
    ])
  }

  const reader: ClickHouseReader = {
    query: <Row>(sql: string, parameters: SqlParameters = {}) =>
      Promise.resolve(answer(sql, parameters) as readonly Row[]),
    async *stream(sql, parameters = {}) {
      const bytes = sql.includes('FROM calls')
        ? matchingBytes(sql, parameters)
        : factBytes(facts, parameters, blockRows)
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    },
  }
  return { reader, insert }
}

/** The column's last value that is not null. */
const coalesce = <Row extends object>(rows: Map<string, Row>, key: string, row: Row): void => {
  const before = rows.get(key)
  const given = Object.entries(row).filter(([, value]) => value !== null)
  rows.set(key, before === undefined ? row : { ...before, ...Object.fromEntries(given) })
}

const lastChange = (prices: readonly PriceRow[]): number =>
  Math.max(
    0,
    ...prices.map((row) => Math.max(Number(row.published_position), Number(row.withdrawn_position))),
  )

const pricesAt = (prices: readonly PriceRow[], { owners, position }: SqlParameters): readonly unknown[] =>
  prices
    .filter(
      (row) =>
        (owners as readonly string[]).includes(row.owner!) &&
        reached(row.published_position, position as bigint) &&
        !reached(row.withdrawn_position, position as bigint),
    )
    .toSorted((a, b) => Number(a.published_position) - Number(b.published_position))
    .map((row) =>
      Object.fromEntries(Object.entries(row).map(([column, value]) => [`field_${column}`, value])),
    )

const reportingAt = (chosen: readonly Chosen[], { position }: SqlParameters): readonly Chosen[] =>
  chosen
    .filter((choice) => BigInt(choice.position) <= (position as bigint))
    .toSorted((a, b) => Number(b.position) - Number(a.position))
    .slice(0, 1)

const ofTraces = (facts: readonly UsageFact[], { traces }: SqlParameters): readonly UsageFact[] =>
  facts.filter(({ trace_id }) => (traces as readonly string[]).includes(trace_id))

const versionOf = (facts: readonly UsageFact[], { trace }: SqlParameters): unknown => {
  const found = facts.filter(({ trace_id }) => trace_id === trace)
  return { rows: found.length, version: String(Math.max(0, ...found.map((fact) => Number(fact.position)))) }
}

const sizes = (facts: readonly UsageFact[], parameters: SqlParameters): readonly unknown[] => {
  const found = ofTraces(facts, parameters)
  const traces = [...new Set(found.map(({ trace_id }) => trace_id))].toSorted(byBytes)
  return traces.map((trace_id) => ({
    trace_id,
    rows: found.filter((fact) => fact.trace_id === trace_id).length,
  }))
}

const version = (facts: readonly UsageFact[], { trace, position }: SqlParameters): unknown => {
  const rows = facts.filter((fact) => fact.trace_id === trace && reached(fact.position, position as bigint))
  return { rows: rows.length, version: String(Math.max(0, ...rows.map((fact) => Number(fact.position)))) }
}

const matchingCalls = (
  calls: readonly CallRow[],
  sql: string,
  parameters: SqlParameters,
): readonly CallRow[] => {
  const position = parameters['position'] as bigint
  const filter = { ...(parameters as Filter), trace_roots_only: sql.includes('parent_id IS NULL') }
  return calls
    .filter(
      (row) =>
        reached(row.started_position, position) &&
        !reached(row.deleted_position, position) &&
        selects(filter, asStarted(row, reached(row.ended_position, position))),
    )
    .toSorted((a, b) => byBytes(a.started_at!, b.started_at!) || byBytes(a.id!, b.id!))
}

const asStarted = (row: CallRow, hasEnded: boolean) =>
  ({
    id: row.id,
    traceId: row.trace_id,
    parentId: row.parent_id,
    start: { ...row, inputs: row.inputs as JsonObject },
    end: hasEnded ? { output: parsed(row.output) as JsonObject } : undefined,
  }) as unknown as Started

/** Plain values lie as text, objects and lists as they are. */
const parsed = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value)

/** The columns that `load.ts` selects, in its order. */
const factBytes = (facts: readonly UsageFact[], parameters: SqlParameters, blockRows: number): Buffer => {
  const position = parameters['position'] as bigint
  const traces = parameters['traces'] as readonly string[]
  const visible = ofTraces(facts, parameters)
    .toSorted(
      (a, b) =>
        byBytes(a.trace_id, b.trace_id) ||
        byBytes(a.call_id, b.call_id) ||
        Number(a.position) - Number(b.position),
    )
    .map((fact) => ({
      fact,
      started: reached(fact.started_position, position),
      ended: reached(fact.ended_position, position),
      deleted: reached(fact.deleted_position, position),
    }))
    .filter(({ started, ended, deleted }) => started || ended || deleted)
  const blocks = []
  for (let from = 0; from < visible.length; from += blockRows) {
    const rows = visible.slice(from, from + blockRows)
    blocks.push(
      nativeBlock(rows.length, [
        { type: 'UInt32', values: rows.map(({ fact }) => traces.indexOf(fact.trace_id) + 1) },
        { type: 'String', values: rows.map(({ fact }) => fact.call_id) },
        { type: 'String', values: rows.map(({ fact }) => fact.parent_id) },
        { type: 'UInt32', values: rows.map(({ fact }) => collidingHash(fact.call_id)) },
        { type: 'UInt32', values: rows.map(({ fact }) => collidingHash(fact.parent_id)) },
        {
          type: 'UInt8',
          values: rows.map(
            ({ started, ended, deleted }) =>
              Number(started || ended) | (Number(ended) << 1) | (Number(deleted) << 2),
          ),
        },
        { type: 'Float64', values: rows.map(({ fact }) => since2100(fact.started_at)) },
        { type: 'Float64', values: rows.map(({ fact, ended }) => (ended ? since2100(fact.ended_at) : NaN)) },
        {
          type: 'UInt8',
          values: rows.map(({ fact }) => SOURCES.indexOf(fact.source)),
        },
        { type: 'Float64', values: rows.map(({ fact }) => fact.status_total ?? NaN) },
        { type: 'Array(String)', values: rows.map(({ fact, ended }) => (ended ? fact.models : [])) },
        { type: 'Array(Float64)', values: rows.map(({ fact, ended }) => (ended ? fact.figures : [])) },
      ]),
    )
  }
  return Buffer.concat(blocks)
}

/** 0 and null mean that it is not in the row. */
const reached = (at: string | null, position: bigint): boolean =>
  at !== null && at !== '0' && BigInt(at) <= position

const since2100 = (dateTime64: string): number => {
  const seconds = Date.parse(`${dateTime64.slice(0, 19).replace(' ', 'T')}Z`) - Date.UTC(2100, 0, 1)
  return seconds * 1000 + Number(dateTime64.slice(20))
}

/** So poor that different ids often meet. */
const collidingHash = (text: string): number => sum([...Buffer.from(text)]) % 8

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

const byBytes = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
