import type { Instant } from '../kernel/codec/instant.js'
import type { Rows } from '../kernel/ports/clickhouse.js'
import type { Position } from '../kernel/ports/event-store.js'
import { dateTime64, instantFrom, SQL_TIME } from './clickhouse-values.js'
import type { Column as Field } from './expression/fields.js'

/** A column of a table. */
export interface Column<Value> {
  /** Its type in the engine, and what follows it in a statement. */
  readonly type: string
  /** How queries compare and sort it. */
  readonly kind?: 'text' | 'number' | 'instant' | 'json'
  /** The value of a row to insert, by default as it is. */
  readonly write?: (value: Value) => unknown
  /** The value of a row that was read, by default as it is. */
  readonly read?: (value: string) => Value
}

export const text: Column<string> = { type: 'String', kind: 'text' }
/** A text that few rows differ in. */
export const keyword: Column<string> = { type: 'LowCardinality(String)', kind: 'text' }
export const texts: Column<readonly string[]> = { type: 'Array(String)' }
export const boolean: Column<boolean> = { type: 'Bool' }
export const position: Column<Position> = { type: 'UInt64', write: String }
export const instant: Column<Instant> = {
  type: SQL_TIME,
  kind: 'instant',
  write: dateTime64,
  read: instantFrom,
}

/** A column that the engine makes of others. */
export const computed = (type: string, expression: string) => ({
  type: `${type} MATERIALIZED ${expression}`,
  isComputed: true as const,
})

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a column takes and gives its value
type Columns = Readonly<Record<string, Column<any>>>

type ValueOf<C> = C extends Column<infer Value> ? Value : never

type Row<C> = {
  readonly [Name in keyof C as C[Name] extends { readonly isComputed: true } ? never : Name]: ValueOf<C[Name]>
}

/** A row as projections write it. */
export type RowOf<T> = T extends Table<infer C> ? Row<C> : never

/** Columns of a table as queries read them. */
export type ReadOf<T, Name> =
  T extends Table<infer C> ? { readonly [N in Name & keyof C]: ValueOf<C[N]> } : never

export interface Table<C extends Columns> {
  readonly name: string
  readonly columns: C
  /** The columns that rows are written with. */
  readonly names: readonly (keyof C & string)[]
  /** Creates it. */
  readonly statement: string
  readonly rows: (rows: readonly Row<C>[]) => Rows
}

interface Options {
  readonly engine?: string
  /** What follows their names. */
  readonly indexes?: Readonly<Record<string, string>>
  /** Rows that a read reads at least. */
  readonly granularity?: number
}

const DURABLE = 'fsync_after_insert = 1, fsync_part_directory = 1'

/** Declares a table of the read models, in whose sorting key `orderBy` are columns. Parts are synced before an insert is acknowledged. */
export const table = <C extends Columns>(
  name: string,
  columns: C,
  orderBy: readonly (keyof C & string)[],
  { engine = 'ReplacingMergeTree', indexes = {}, granularity }: Options = {},
): Table<C> => {
  const names = Object.keys(columns).filter((column) => !('isComputed' in columns[column]!))
  const writes = names.map((column) => columns[column]!.write)
  const valuesOf = (row: Readonly<Record<string, unknown>>) =>
    names.map((column, index) => {
      const write = writes[index]
      return write === undefined ? row[column] : write(row[column])
    })
  const lines = [
    ...Object.entries(columns).map(([column, { type }]) => `    ${column} ${type}`),
    ...Object.entries(indexes).map(([index, text]) => `    INDEX ${index} ${text} GRANULARITY 1`),
  ]
  const settings = granularity === undefined ? DURABLE : `index_granularity = ${granularity}, ${DURABLE}`
  return {
    name,
    columns,
    names,
    statement: `CREATE TABLE ${name}\n(\n${lines.join(',\n')}\n)\nENGINE = ${engine}\nORDER BY (${orderBy.join(', ')})\nSETTINGS ${settings}`,
    rows: (rows) => ({ table: name, columns: names, values: rows.map(valuesOf) }),
  }
}

/** Makes the values of some columns of a row that was read. */
export const reading = (columns: Columns) => {
  const readers = Object.entries(columns).flatMap(([name, { read }]) => (read ? [[name, read] as const] : []))
  return <Row>(row: Row): Row => {
    const raw = row as Readonly<Record<string, string>>
    return { ...row, ...Object.fromEntries(readers.map(([name, read]) => [name, read(raw[name]!)])) }
  }
}

/** The columns that conditions and orders can name, by their names. */
export const fieldsOf = (columns: Columns): Readonly<Record<string, Field>> =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, { kind }]) =>
      kind === undefined ? [] : [[name, { kind, sql: name }]],
    ),
  )
