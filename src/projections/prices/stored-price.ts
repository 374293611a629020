import type { Instant } from '../../kernel/codec/instant.js'
import { instantFrom } from '../clickhouse-values.js'
import { mapCosts, TOKEN_COSTS, type CostsOf } from '../../domain/prices/cache-costs.js'
import type { PriceTier } from '../../domain/prices/tiers.js'
import type { Fields } from '../expression/fields.js'

export const TEXT_COLUMNS = [
  'id',
  'llm_id',
  'prompt_token_cost_unit',
  'completion_token_cost_unit',
  'provider_id',
  'created_by',
] as const

/** All columns that are inserted. */
export const PRICE_COLUMNS = [
  'owner',
  ...TEXT_COLUMNS,
  ...TOKEN_COSTS,
  'tiers',
  'effective_date',
  'created_at',
  'published_position',
  'withdrawn_position',
] as const

/** Costs are in decimal digits. */
export type StoredPrice = Readonly<Record<(typeof TEXT_COLUMNS)[number], string>> &
  CostsOf<string> & {
    readonly owner: string
    readonly effective_date: Instant
    readonly created_at: Instant
    readonly tiers?: readonly PriceTier[]
  }

/** The fields that queries may name, in SQL. */
export const PRICE_FIELDS: Fields = {
  ...Object.fromEntries(TEXT_COLUMNS.map((column) => [column, { kind: 'text', sql: column }])),
  ...Object.fromEntries(TOKEN_COSTS.map((column) => [column, { kind: 'number', sql: column }])),
  effective_date: { kind: 'instant', sql: 'effective_date' },
  created_at: { kind: 'instant', sql: 'created_at' },
}

const TEXTS = ['owner', ...TEXT_COLUMNS, 'effective_date', 'created_at']

export const SELECTED = [
  ...TEXTS.map((column) => `${column} AS field_${column}`),
  ...TOKEN_COSTS.map((column) => `toString(${column}) AS field_${column}`),
  'tiers AS field_tiers',
].join(', ')

export const storedPrice = (row: Readonly<Record<string, string | null>>): StoredPrice => ({
  ...(Object.fromEntries(
    TEXTS.map((column) => [column, row[`field_${column}`] ?? '']),
  ) as unknown as StoredPrice),
  ...mapCosts(
    Object.fromEntries(TOKEN_COSTS.map((name) => [name, row[`field_${name}`]])),
    (cost: string) => cost,
  ),
  effective_date: instantFrom(row['field_effective_date'] ?? ''),
  created_at: instantFrom(row['field_created_at'] ?? ''),
  ...(row['field_tiers'] ? { tiers: JSON.parse(row['field_tiers']) as readonly PriceTier[] } : {}),
})
