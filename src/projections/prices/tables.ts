import { forEachCost } from '../../domain/prices/units.js'
import { instant, nullable, position, table, text } from '../table.js'

/** In decimal digits. */
const cost = nullable({ ...text, type: 'Decimal(38, 12)' })

/**
 * One row a price. What publishes it and what withdraws it each set their own columns; the engine keeps the last value of each
 * column that is not null. The owner is a project, entity/project, or the name of a price list.
 */
export const PRICES = table(
  'prices',
  {
    owner: text,
    id: text,
    llm_id: nullable(text),
    prompt_token_cost: cost,
    completion_token_cost: cost,
    cache_read_input_token_cost: cost,
    cache_creation_input_token_cost: cost,
    cache_creation_1h_input_token_cost: cost,
    prompt_audio_token_cost: cost,
    completion_audio_token_cost: cost,
    ...forEachCost(() => cost),
    /** JSON: the costs of requests with long prompts and in tiers of service. */
    tiers: nullable(text),
    prompt_token_cost_unit: nullable(text),
    completion_token_cost_unit: nullable(text),
    effective_date: nullable(instant),
    provider_id: nullable(text),
    created_by: nullable(text),
    created_at: nullable(instant),
    published_position: nullable(position),
    withdrawn_position: nullable(position),
  },
  ['owner', 'id'],
  { engine: 'CoalescingMergeTree' },
)
