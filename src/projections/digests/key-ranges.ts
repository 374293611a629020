import type { ClickHouseReader, SqlParameters } from '../../kernel/ports/clickhouse.js'
import type { DigestedModel } from './model.js'

/** A part of a table: a condition on its sorting key, and its parameters. */
export interface KeyRange {
  readonly condition: string
  readonly parameters: SqlParameters
}

type Key = readonly string[]

/** Splits a table by its sorting key, at sampled keys, into ranges of about `rows` rows. */
export const keyRanges = async (
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
