import type { ClickHouseReader, SqlParameters } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { DigestedModel } from './model.js'
import { digestedModels } from './models.js'

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
  for (const model of digestedModels) digests.push(await digestOf(reader, model, position, rangeRows))
  return digests
}

const digestOf = async (
  reader: ClickHouseReader,
  model: DigestedModel,
  position: Position,
  rangeRows: number,
): Promise<ModelDigest> => {
  let rows = 0
  let sum = 0n
  for (const range of await keyRanges(reader, model, rangeRows)) {
    const part = await sumOf(reader, model, position, range)
    rows += part.rows
    sum = (sum + part.sum) % MODULUS
  }
  return { model: model.table, rows, digest: sum.toString(16).padStart(64, '0') }
}

/** Memory does not grow with the table. */
const LIMITED_MEMORY = `SETTINGS max_execution_time = 0, max_threads = 2, max_block_size = 4096,
  optimize_aggregation_in_order = 1`

const sumOf = async (
  reader: ClickHouseReader,
  { rows }: DigestedModel,
  position: Position,
  { condition, parameters }: KeyRange,
): Promise<{ readonly rows: number; readonly sum: bigint }> => {
  const [row] = await reader.query<{ rows: number; sum: string }>(
    `SELECT count() AS rows, toString(sum(reinterpretAsUInt256(SHA256(row)))) AS sum
    FROM (${rows(condition)}) ${LIMITED_MEMORY}`,
    { ...parameters, position },
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
