import type { Instant } from '../kernel/codec/instant.js'
import type { Json } from '../kernel/json/json.js'
import { parseJson } from '../kernel/json/parse.js'
import type { JsonText, Rows } from '../kernel/ports/clickhouse.js'
import type { Position } from '../kernel/ports/event-store.js'
import { dateTime64, instantFrom, int64 as integer, SQL_TIME } from './clickhouse-values.js'
import type { Column as Field } from './expression/fields.js'

/** A column of a table. */
export interface Column<Value> {
  /** Its type in the engine, and what follows it in a statement. */
  readonly type: string
  /** How queries compare and sort it. */
  readonly kind?: 'text' | 'number' | 'instant' | 'json'
  /** For columns with content: what an erasure leaves of a value, in SQL. */
  readonly erased?: string
  /** The value of a row to insert, by default as it is. */
  readonly write?: (value: Value) => unknown
  /** The value of a row that was read, by default as it is. */
  readonly read?: (value: string) => Value
}

export const text: Column<string> = { type: 'String', kind: 'text' }
/** A text that few rows differ in. */
export const keyword: Column<string> = { type: 'LowCardinality(String)', kind: 'text' }
export const texts: Column<readonly string[]> = { type: 'Array(String)' }
/** An insert makes the text of objects and lists. */
export const json: Column<Json | JsonText> = { type: 'String', kind: 'json', read: parseJson }
export const uint64: Column<number> = { type: 'UInt64', kind: 'number' }
export const boolean: Column<boolean> = { type: 'Bool' }
export const number: Column<number> = { type: 'Float64', kind: 'number' }
export const int64: Column<number> = { type: 'Int64', kind: 'number', write: integer }
/** Read it as text: the engine's integers are read as doubles. */
export const position: Column<Position> = { type: 'UInt64', write: String, read: BigInt }
export const instant: Column<Instant> = {
  type: SQL_TIME,
  kind: 'instant',
  write: dateTime64,
  read: instantFrom,
}

interface NullableColumn<Value> extends Column<Value | null> {
  readonly isNullable: true
}

/** Null where a row to insert has no value. */
export const nullable = <Value>(column: Column<Value>): NullableColumn<Value> => {
  const inner = /^LowCardinality\((.*)\)$/.exec(column.type)?.[1]
  const type = inner === undefined ? `Nullable(${column.type})` : `LowCardinality(Nullable(${inner}))`
  return { ...column, type, isNullable: true } as NullableColumn<Value>
}

/** A column with content, and what an erasure leaves of a value. */
export const erasable = <C extends { readonly type: string }>(column: C, erased = 'NULL'): C => ({
  ...column,
  erased,
})

/** What rows with the same key become. */
export const aggregate = <Value>(name: 'any' | 'min', column: Column<Value>): Column<Value> => ({
  ...column,
  type: `SimpleAggregateFunction(${name}, ${column.type})`,
})

/** A column that the engine makes of others. */
export const computed = (type: string, expression: string) => ({
  type: `${type} MATERIALIZED ${expression}`,
  isComputed: true as const,
})

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a column takes and gives its value
type Columns = Readonly<Record<string, Column<any>>>

type ValueOf<C> = C extends Column<infer Value> ? Value : never

type NameOf<C, Kind> = { [Name in keyof C]: C[Name] extends Kind ? Name : never }[keyof C]
type Absent = { readonly isNullable: true } | { readonly isComputed: true }

type Row<C> = { readonly [Name in Exclude<keyof C, NameOf<C, Absent>>]: ValueOf<C[Name]> } & {
  readonly [Name in NameOf<C, { readonly isNullable: true }>]?: ValueOf<C[Name]> | undefined
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

/** Rows are synced. Empty parts stay until they are merged, because their block numbers would look like lost rows. */
const DURABLE = 'fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0'

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
      const value = row[column] ?? null
      const write = writes[index]
      return value === null || write === undefined ? value : write(value)
    })
  const lines = [
    ...Object.entries(columns).map(([column, { type }]) => `    ${column} ${type}`),
    ...Object.entries(indexes).map(([index, text]) => `    INDEX ${index} ${text} GRANULARITY 1`),
  ]
  const key =
    orderBy.length === 1 ? orderBy[0]! : orderBy.length === 0 ? 'tuple()' : `(${orderBy.join(', ')})`
  const settings = granularity === undefined ? DURABLE : `index_granularity = ${granularity}, ${DURABLE}`
  return {
    name,
    columns,
    names,
    statement: `CREATE TABLE ${name}\n(\n${lines.join(',\n')}\n)\nENGINE = ${engine}\nORDER BY ${key}\nSETTINGS ${settings}`,
    rows: (rows) => ({ table: name, columns: names, values: rows.map(valuesOf) }),
  }
}

/** Makes the values of those of some columns that a row has. */
export const reading = (columns: Columns) => {
  const entries = Object.entries(columns).flatMap(([name, { read }]) => (read ? [[name, read] as const] : []))
  return <Row extends object>(row: Row): Row => {
    const values = { ...row } as Record<string, unknown>
    for (const [name, read] of entries) if (values[name] != null) values[name] = read(values[name] as string)
    return values as Row
  }
}

/** The columns that conditions and orders can name, by their names. */
export const fieldsOf = (columns: Columns): Readonly<Record<string, Field>> =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, { kind }]) =>
      kind === undefined ? [] : [[name, { kind, sql: name }]],
    ),
  )
