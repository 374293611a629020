import { ReadTooExpensive, type ClickHouseReader, type SqlParameters } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { DigestedModel } from './model.js'
import { digestedModels } from './models.js'
import { readTotalsState } from '../usage/totals-state.js'
import { changesAfter, computedTotals, storedTotals } from './usage-totals.js'

export interface ModelDigest {
  /** Its table. */
  readonly model: string
  readonly rows: number
  /** 64 hexadecimal digits. */
  readonly digest: string
}

/** Rows per statement. */
const RANGE_ROWS = 100_000

const MODULUS = 1n << 256n

/**
 * Digests of all read models as of a log position that they have reached. Later events do not change them.
 *
 * A digest is the sum, modulo 2^256, of the SHA-256 of each row's text. It does not depend on batches, merges,
 * duplicate rows or the numbers of positions, so a copy of the log gives the same digests. It detects accidental
 * differences and changed rows, but not an attacker who can choose many rows to find an equal sum.
 *
 * @throws ReadTooExpensive when the engine has too little memory for a hundred thousand rows
 */
export const digestsOf = async (
  reader: ClickHouseReader,
  position: Position,
  rangeRows = RANGE_ROWS,
): Promise<readonly ModelDigest[]> => {
  const digests: ModelDigest[] = []
  for (const model of digestedModels)
    digests.push(digestOf(model, await sumOf(reader, model, { position }, rangeRows)))
  digests.push(digestOf(storedTotals, await sumOfTotals(reader, position, rangeRows)))
  return digests
}

interface Sum {
  readonly rows: number
  readonly sum: bigint
}

const digestOf = ({ table }: DigestedModel, { rows, sum }: Sum): ModelDigest => ({
  model: table,
  rows,
  digest: (sum % MODULUS).toString(16).padStart(64, '0'),
})

const sumOf = async (
  reader: ClickHouseReader,
  model: DigestedModel,
  parameters: SqlParameters,
  rangeRows: number,
): Promise<Sum> => {
  let rows = 0
  let sum = 0n
  for (const range of await keyRanges(reader, model, rangeRows)) {
    const part = await sumOfRange(reader, model, parameters, range)
    rows += part.rows
    sum += part.sum
  }
  return { rows, sum }
}

/** Each try begins with the traces that changed during the one before, so that it succeeds on a busy service too. */
const MAX_TRIES = 10

/**
 * `usage_totals` has the rows of the last pass only. As in reads, those of traces that changed after it or after the position are
 * computed from facts.
 */
const sumOfTotals = async (reader: ClickHouseReader, position: Position, rangeRows: number): Promise<Sum> => {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { complete, tables } = await readTotalsState(reader)
    const after = position < complete ? position : complete
    const changes = await changesAfter(reader, after)
    let { rows, sum } = await sumOf(reader, storedTotals, { after }, rangeRows)
    for await (const digest of computedTotals(reader, after, position)) {
      rows += 1
      sum += digest
    }
    const isSame = (await readTotalsState(reader)).tables === tables
    if (isSame && (await changesAfter(reader, after)) === changes) return { rows, sum }
  }
  throw new ReadTooExpensive('time')
}

/** Memory does not grow with the table. */
const LIMITED_MEMORY = `SETTINGS max_execution_time = 0, max_threads = 2, max_block_size = 4096,
  optimize_aggregation_in_order = 1`

const sumOfRange = async (
  reader: ClickHouseReader,
  { rows }: DigestedModel,
  given: SqlParameters,
  { condition, parameters }: KeyRange,
): Promise<Sum> => {
  const [row] = await reader.query<{ rows: number; sum: string }>(
    `SELECT count() AS rows, toString(sum(reinterpretAsUInt256(SHA256(row)))) AS sum
    FROM (${rows(condition)}) ${LIMITED_MEMORY}`,
    { ...parameters, ...given },
  )
  return { rows: row?.rows ?? 0, sum: BigInt(row?.sum ?? '0') }
}

/** A part of a table: a condition on its sorting key, and its parameters. */
interface KeyRange {
  readonly condition: string
  readonly parameters: SqlParameters
}

type Key = readonly string[]

/** Splits a table by its sorting key, at sampled keys, into ranges of about `rows` rows. */
const keyRanges = async (
  reader: ClickHouseReader,
  { table, key }: DigestedModel,
  rows: number,
): Promise<readonly KeyRange[]> => {
  const [counted] = await reader.query<{ total: number }>(`SELECT count() AS total FROM ${table}`)
  const cuts = Math.ceil((counted?.total ?? 0) / rows) - 1
  if (cuts <= 0) return [{ condition: 'true', parameters: {} }]
  const sampled = await reader.query<{ key: Key }>(
    `SELECT arrayJoin(arraySort(arrayDistinct(groupArraySample(${cuts})([${key.map((column) => `toString(${column})`).join(', ')}])))) AS key
    FROM ${table} ${NO_TIME_LIMIT}`,
  )
  const keys = sampled.map((row) => row.key)
  return [undefined, ...keys].map((from, index) => between(key, from, keys[index]))
}

const NO_TIME_LIMIT = 'SETTINGS max_execution_time = 0'

const between = (columns: Key, from: Key | undefined, to: Key | undefined): KeyRange => ({
  condition: [
    ...(from === undefined ? [] : [notBefore(columns, 'from')]),
    ...(to === undefined ? [] : [`NOT (${notBefore(columns, 'to')})`]),
  ].join(' AND '),
  parameters: { ...named('from', from), ...named('to', to) },
})

const named = (name: string, key: Key = []): SqlParameters =>
  Object.fromEntries(key.map((value, index) => [`${name}${index}`, value]))

/** Column by column, because the engine does not use the index for a comparison of tuples. */
const notBefore = (columns: Key, name: string): string =>
  columns.reduceRight((rest, column, index) => {
    const value = `{${name}${index}:String}`
    return rest === ''
      ? `${column} >= ${value}`
      : `(${column} > ${value} OR (${column} = ${value} AND ${rest}))`
  }, '')
