import type { OfferedPrice } from '../../prices/commands.js'
import { DEFAULT_LIST, teamsList } from '../../prices/events.js'
import type { ModelPrice } from './content.js'
import type { Upstreams } from './directory.js'

/** The price list of an owner: the operator's applies to all projects, a team's to its own. */
export const priceListOf = (team: string | null): string => (team === null ? DEFAULT_LIST : teamsList(team))

/** One price per model of an owner's upstreams: of the upstream with the greatest weight, then of the first by name. */
export const pricesOf = (upstreams: Upstreams, team: string | null): readonly OfferedPrice[] => {
  const prices = new Map<string, ModelPrice>()
  const ofOwner = [...upstreams.values()]
    .filter((one) => one.team === team)
    .sort((a, b) => b.content.weight - a.content.weight || (a.content.name < b.content.name ? -1 : 1))
  for (const { content } of ofOwner)
    for (const { id, price } of content.models) if (price !== null && !prices.has(id)) prices.set(id, price)
  return [...prices].map(([llm_id, price]) => ({
    llm_id,
    ...price,
    prompt_token_cost_unit: 'USD',
    completion_token_cost_unit: 'USD',
    provider_id: 'upstream',
    effective_date: null,
  }))
}
