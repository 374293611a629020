export const TEXT_COLUMNS = [
  'id',
  'llm_id',
  'prompt_token_cost_unit',
  'completion_token_cost_unit',
  'provider_id',
  'created_by',
] as const

export const COST_COLUMNS = [
  'prompt_token_cost',
  'completion_token_cost',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
] as const

/** The columns of `prices` in the order of its rows' values. */
export const PRICE_COLUMNS = [
  'owner',
  ...TEXT_COLUMNS,
  ...COST_COLUMNS,
  'effective_date',
  'created_at',
  'published_position',
  'withdrawn_position',
] as const

export type PriceColumn = (typeof PRICE_COLUMNS)[number]
