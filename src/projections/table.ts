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
  readonly kind?: 'text' | 'number' | 'instant'
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

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a column takes and gives its value
type Columns = Readonly<Record<string, Column<any>>>

type ValueOf<C> = C extends Column<infer Value> ? Value : never

/** A row as projections write it. */
export type RowOf<T> = T extends Table<infer C> ? { readonly [Name in keyof C]: ValueOf<C[Name]> } : never

/** Columns of a table as queries read them. */
export type ReadOf<T, Name> =
  T extends Table<infer C> ? { readonly [N in Name & keyof C]: ValueOf<C[N]> } : never

export interface Table<C extends Columns> {
  readonly name: string
  readonly columns: C
  readonly names: readonly (keyof C & string)[]
  /** Creates it. */
  readonly statement: string
  readonly rows: (rows: readonly { readonly [Name in keyof C]: ValueOf<C[Name]> }[]) => Rows
}

const DURABLE = 'SETTINGS fsync_after_insert = 1, fsync_part_directory = 1'

/** Declares a table of the read models, in whose sorting key `orderBy` are columns. Parts are synced before an insert is acknowledged. */
export const table = <C extends Columns>(
  name: string,
  columns: C,
  orderBy: readonly (keyof C & string)[],
): Table<C> => {
  const names = Object.keys(columns)
  const lines = names.map((column) => `    ${column} ${columns[column]!.type}`)
  return {
    name,
    columns,
    names,
    statement: `CREATE TABLE ${name}\n(\n${lines.join(',\n')}\n)\nENGINE = ReplacingMergeTree\nORDER BY (${orderBy.join(', ')})\n${DURABLE}`,
    rows: (rows) => ({
      table: name,
      columns: names,
      values: rows.map((row) =>
        names.map((column) => {
          const value: unknown = row[column]
          return columns[column]!.write?.(value) ?? value
        }),
      ),
    }),
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
