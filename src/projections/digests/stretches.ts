import type { ClickHouseReader, SqlParameters } from '../../domain/ports/clickhouse.js'
import type { DigestedModel } from './model.js'

/** A part of a table: a condition on its sorting key, with the values that it names. */
export interface Stretch {
  readonly condition: string
  readonly parameters: SqlParameters
}

type Key = readonly string[]

/**
 * Cuts a table along its sorting key into stretches of about `rows` rows, which cover it. The cuts are keys of a sample:
 * where they lie changes no sum over the stretches.
 */
export const stretchesOf = async (
  reader: ClickHouseReader,
  { table, key }: DigestedModel,
  rows: number,
): Promise<readonly Stretch[]> => {
  const [counted] = await reader.query<{ total: number }>(`SELECT count() AS total FROM ${table}`)
  const cuts = Math.ceil((counted?.total ?? 0) / rows) - 1
  if (cuts <= 0) return [{ condition: 'true', parameters: {} }]
  const sampled = await reader.query<{ key: Key }>(
    `SELECT arrayJoin(arraySort(arrayDistinct(groupArraySample(${cuts})([${key.map((column) => `toString(${column})`).join(', ')}])))) AS key
    FROM ${table} ${UNHURRIED}`,
  )
  const keys = sampled.map((row) => row.key)
  return [undefined, ...keys].map((from, index) => between(key, from, keys[index]))
}

/** A statement that reads much has the time that it takes. */
const UNHURRIED = 'SETTINGS max_execution_time = 0'

const between = (columns: Key, from: Key | undefined, to: Key | undefined): Stretch => ({
  condition: [
    ...(from === undefined ? [] : [notBefore(columns, 'from')]),
    ...(to === undefined ? [] : [`NOT (${notBefore(columns, 'to')})`]),
  ].join(' AND '),
  parameters: { ...named('from', from), ...named('to', to) },
})

const named = (name: string, key: Key = []): SqlParameters =>
  Object.fromEntries(key.map((value, index) => [`${name}${index}`, value]))

/** Written out column by column: of a comparison of tuples, the engine would make no use of the index. */
const notBefore = (columns: Key, name: string): string =>
  columns.reduceRight((rest, column, index) => {
    const value = `{${name}${index}:String}`
    return rest === ''
      ? `${column} >= ${value}`
      : `(${column} > ${value} OR (${column} = ${value} AND ${rest}))`
  }, '')
