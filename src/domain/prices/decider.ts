import { nothing, type Decider, type Decision } from '../../kernel/decider.js'
import type { ImportPrices, PriceCommand, PublishPrices } from './commands.js'
import type { PriceEvent } from './events.js'
import { evolve, noPrices, recognised, samePrice, standingFor, type PriceState } from './state.js'

const decide = (state: PriceState, command: PriceCommand): Decision<PriceEvent> => {
  switch (command.type) {
    case 'PublishPrices':
      return decidePublished(state, command)
    case 'WithdrawPrice': {
      const { owner, id } = command
      const price = state.known.get(id)
      if (price === undefined || !standingFor(state, price.llm_id).some((one) => one.id === id))
        return nothing
      return { events: [{ type: 'PriceWithdrawn', data: { ...owner, id } }] }
    }
    case 'ImportPrices':
      return decideImported(state, command)
    default:
      return command satisfies never
  }
}

const decidePublished = (
  state: PriceState,
  { owner, prices, userId, now }: PublishPrices,
): Decision<PriceEvent> => {
  const events: PriceEvent[] = []
  for (const { id, price } of prices) {
    const known = state.known.get(id)
    if (known !== undefined) {
      const effective_date = price.effective_date ?? known.effective_date
      if (samePrice(known, { ...price, effective_date })) continue
      const reason = 'The Idempotency-Key was already used for other prices. Use a new key.'
      return { events: [], refused: { kind: 'conflict', reason } }
    }
    if (recognised(state, price, now) !== undefined) continue
    const published = { ...price, effective_date: price.effective_date ?? now }
    const data = { ...owner, id, ...published, created_by: userId, created_at: now }
    events.push({ type: 'PricePublished', data })
  }
  return { events }
}

/** Publishes the new price before it withdraws the old one, so that there is a price at every position. */
const decideImported = (
  state: PriceState,
  { list, version, source, prices, once, userId, now }: ImportPrices,
): Decision<PriceEvent> => {
  if (once && state.versions.has(version)) return nothing
  const owner = { project_id: null, list }
  const events: PriceEvent[] = []
  for (const { id, price } of prices) {
    const before = standingFor(state, price.llm_id).filter(
      (one) => one.price.effective_date === price.effective_date,
    )
    if (before.some((one) => samePrice(one.price, price))) continue
    const data = { ...owner, id, ...price, created_by: userId, created_at: now }
    events.push({ type: 'PricePublished', data })
    for (const { id: old } of before) events.push({ type: 'PriceWithdrawn', data: { ...owner, id: old } })
  }
  if (events.length > 0 || !state.versions.has(version))
    events.push({ type: 'PriceListImported', data: { list, version, source, prices: prices.length } })
  return { events }
}

export const priceDecider: Decider<PriceState, PriceCommand, PriceEvent> = {
  initialState: noPrices,
  evolve,
  decide,
}
