import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { openPrices } from '../../../../src/dispatch/webhooks/prices.js'
import { EXTRA_COSTS } from '../../../../src/domain/prices/cache-costs.js'
import { FIGURES } from '../../../../src/domain/calls/usage/reported.js'
import type { RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import { priceAt } from '../../../../src/domain/prices/choice.js'
import type { TokenCosts } from '../../../../src/domain/prices/change.js'
import type { Amount } from '../../../../src/domain/prices/decimal.js'
import { priceStream } from '../../../../src/domain/prices/events.js'
import { priceHistory } from '../../../../src/domain/prices/price-history.js'
import { costOf, ownersFor, type ChargedCall } from '../../../../src/domain/calls/call-cost.js'
import { bookOf } from '../../../../src/projections/prices/book.js'
import { storedPrice } from '../../../../src/projections/prices/stored-price.js'
import { countersOf } from '../../../../src/projections/usage/own-usage.js'
import { costsOf as costsOfTokens, hasChargedTokens } from '../../../../src/projections/usage/charges.js'
import { COUNTS } from '../../../counts.js'
import { logOf } from '../../../api/webhooks/deliveries/arbitrary-history.js'
import { recorded } from '../../domain/webhooks/automations/matching/given.js'
import {
  arbitraryCharged,
  arbitraryPrice,
  type ArbitraryPrice,
} from '../../domain/prices/arbitrary-prices.js'

const ownedBy = (owner: string) =>
  owner.includes('/') ? { project_id: owner, list: null } : { project_id: null, list: owner }

interface Logged {
  readonly event: RecordedEvent
  readonly id: string
  /** Undefined for a withdrawal. */
  readonly price: Extract<ArbitraryPrice, { kind: 'published' }> | undefined
}

/** The log of prices that were published and withdrawn, each at ten times its number. */
const logged = (prices: readonly ArbitraryPrice[]): readonly Logged[] => {
  const revisions = new Map<string, bigint>()
  const published: { owner: string; id: string }[] = []
  return prices.flatMap((price, place): Logged[] => {
    const of =
      price.kind === 'published'
        ? { owner: price.owner, id: `price ${place}` }
        : published[price.which % published.length]
    if (of === undefined) return []
    const { owner, id } = of
    const stream = priceStream({ project_id: null, list: owner })
    const revision = (revisions.get(stream) ?? -1n) + 1n
    revisions.set(stream, revision)
    const at = { position: BigInt(place + 1) * 10n, revision }
    if (price.kind === 'withdrawn') {
      const event = recorded(stream, 'PriceWithdrawn', { ...ownedBy(owner), id }, at)
      return [{ event, id, price: undefined }]
    }
    published.push(of)
    const { model: llm_id, from: effective_date } = price
    const created = { created_at: '2026-01-01T00:00:00.000000Z' }
    const data = { ...ownedBy(owner), id, llm_id, effective_date, ...costsOf(price.costs), ...created }
    return [{ event: recorded(stream, 'PricePublished', data, at), id, price }]
  })
}

const costsOf = ([prompt, completion, read, creation, hour, , ...extras]: TokenCosts) => ({
  prompt_token_cost: prompt,
  completion_token_cost: completion,
  cache_read_input_token_cost: read,
  cache_creation_input_token_cost: creation,
  cache_creation_1h_input_token_cost: hour,
  ...Object.fromEntries(extras.map((cost, n) => [Object.values(EXTRA_COSTS)[n]!, cost])),
})

/** As usage queries work it out; undefined where they say null, and without usage. */
const readCost = (events: readonly Logged[], { project_id, started_at, models }: ChargedCall) => {
  const owners = ownersFor(project_id)
  const gone = new Set(events.filter(({ price }) => price === undefined).map(({ id }) => id))
  const stored = events.flatMap(({ id, price }) => {
    if (price === undefined || gone.has(id) || !owners.includes(price.owner)) return []
    const { owner, model: llm_id, from: effective_date, costs } = price
    return [{ ...storedPrice({}), owner, llm_id, effective_date, ...costsOf(costs) }]
  })
  const { timelines } = bookOf(stored, project_id, undefined)
  let sum: Amount = 0n
  const known: boolean[] = []
  for (const { model, ...figures } of models) {
    const timeline = timelines.get(model)
    const counters = countersOf(FIGURES.map((figure) => figures[figure]))
    const isReported = timeline === undefined && figures.reported_cost > 0
    if (isReported || hasChargedTokens(counters)) known.push(isReported || timeline !== undefined)
    if (timeline === undefined && !isReported) continue
    const costs = timeline === undefined ? null : priceAt(timeline, started_at).costs
    for (const cost of costsOfTokens(counters, costs)) sum += BigInt(cost)
  }
  return models.length === 0 || (known.length > 0 && !known.includes(true)) ? undefined : sum
}

describe('what a call cost to automations', () => {
  const asked = fc.array(fc.tuple(arbitraryCharged, fc.nat({ max: 450 })), { minLength: 1, maxLength: 8 })

  it('is what reads of calls say as of that position, in the dispatcher and when it is asked for again', () =>
    fc.assert(
      fc.asyncProperty(fc.array(arbitraryPrice, { maxLength: 40 }), asked, async (prices, questions) => {
        const events = logged(prices)
        const state = openSqliteDispatcherState(':memory:')
        const dispatched = openPrices(state)
        const along = priceHistory(logOf(events.map(({ event }) => event)))
        let taken = 0
        for (const [charged, place] of questions.toSorted(([, a], [, b]) => a - b)) {
          const position = BigInt(place)
          for (; taken < events.length && events[taken]!.event.position < position; taken += 1)
            dispatched.apply(events[taken]!.event)
          const expected = readCost(events.slice(0, taken), charged)
          assert.equal(costOf(dispatched, charged), expected)
          // Begun anew from what is kept, as after a restart.
          assert.equal(costOf(openPrices(state), charged), expected)
          assert.equal(costOf(await along.at(ownersFor(charged.project_id), position), charged), expected)
        }
        state.close()
      }),
      { numRuns: COUNTS.priceHistories },
    ))
})
