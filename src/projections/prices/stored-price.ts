import type { Instant } from '../../domain/codec/instant.js'
import { instantFrom } from '../clickhouse-values.js'
import type { Fields } from '../expression/fields.js'
import { COST_COLUMNS, TEXT_COLUMNS } from './price-row.js'

/** A price as the queries read it: costs of a token in decimal digits. */
export type StoredPrice = Readonly<
  Record<(typeof TEXT_COLUMNS)[number] | (typeof COST_COLUMNS)[number], string> & {
    readonly owner: string
    readonly effective_date: Instant
    readonly created_at: Instant
  }
>

/** What queries may ask about, each as it reads in SQL. */
export const PRICE_FIELDS: Fields = {
  ...Object.fromEntries(TEXT_COLUMNS.map((column) => [column, { kind: 'text', sql: column }])),
  ...Object.fromEntries(COST_COLUMNS.map((column) => [column, { kind: 'number', sql: column }])),
  effective_date: { kind: 'instant', sql: 'effective_date' },
  created_at: { kind: 'instant', sql: 'created_at' },
}

const TEXTS = ['owner', ...TEXT_COLUMNS, 'effective_date', 'created_at']

export const SELECTED = [
  ...TEXTS.map((column) => `${column} AS field_${column}`),
  ...COST_COLUMNS.map((column) => `toString(${column}) AS field_${column}`),
].join(', ')

export const storedPrice = (row: Readonly<Record<string, string | null>>): StoredPrice => ({
  ...(Object.fromEntries(
    [...TEXTS, ...COST_COLUMNS].map((column) => [column, row[`field_${column}`] ?? '']),
  ) as unknown as StoredPrice),
  effective_date: instantFrom(row['field_effective_date'] ?? ''),
  created_at: instantFrom(row['field_created_at'] ?? ''),
})
