import { yielding } from '../../kernel/yield-to-event-loop.js'
import { sum, type Exact } from '../../domain/prices/exact.js'
import { FIGURES } from '../../domain/calls/usage/reported.js'
import type { UsageReporting } from '../../domain/projects/project.js'
import type { Price, PriceBook } from '../prices/book.js'
import { chargesOf, costsOf } from './charges.js'
import { UNIT_NAMES } from '../../domain/prices/units.js'
import { modelOf } from '../../domain/prices/variant.js'
import { CHARGED, COUNTERS } from './columns.js'
import { atOrBelow } from './inclusive-usage.js'
import { countersOf, ownUsage } from './own-usage.js'
import type { TraceCalls } from './trace.js'

/** What calls of one op used of a model at one price. */
export interface Contribution {
  readonly op: string
  readonly model: string
  readonly kind: ChargedKind
  /** The first of the calls. */
  readonly call: number
  readonly calls: number
  /** Tokens, searches, requests and so on; of `reported_cost` there are none. */
  readonly units: number
  readonly price: Price | null
  /** Of a token. */
  readonly unitCost: Exact | null
  /** In units of 10^-12; null without a price. */
  readonly cost: Exact | null
  /** False for what a call reported of its descendants, which are counted by themselves. */
  readonly isCounted: boolean
}

export const CHARGED_KINDS = [
  'prompt_tokens',
  'completion_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation_1h_input_tokens',
  'prompt_audio_tokens',
  'completion_audio_tokens',
  ...UNIT_NAMES,
  'reported_cost',
] as const
type ChargedKind = (typeof CHARGED_KINDS)[number]

const PLACES = [...CHARGED.map(({ counter }) => counter), 'reported_cost' as const].map((counter) =>
  COUNTERS.indexOf(counter),
)
const REPORTED = CHARGED.length

/** Every contribution to the usage of a call and its descendants, the largest costs first. Costs add up to those of `inclusiveUsage`. */
export const explained = async (
  calls: TraceCalls,
  reporting: UsageReporting,
  book: PriceBook,
  call: number,
): Promise<readonly Contribution[]> => {
  const own = await ownUsage(calls, reporting)
  const { charges, keyOf } = chargesOf({ started: calls.started, models: own.models }, book)
  const found = new Map<string, Contribution>()
  const add = (key: string, one: Contribution) => {
    const before = found.get(key)
    found.set(key, before === undefined ? one : together(before, one))
  }
  const contribute = (at: number, model: number, counters: readonly number[], isCounted: boolean) => {
    const key = keyOf(at, model)
    const { model: name, price, costs } = charges[key]!
    const op = calls.labels[at]?.op ?? ''
    for (const [n, kind] of CHARGED_KINDS.entries()) {
      const units = counters[PLACES[n]!]!
      // What a provider reported is charged only without a price, and requests only where they have one.
      if (units <= 0 || (n === REPORTED && costs !== null) || (kind === 'requests' && !costs?.[n])) continue
      const only = counters.map((_, place) => (place === PLACES[n] ? units : 0))
      const isFree = n !== REPORTED && costs === null
      add(JSON.stringify([op, key, kind, isCounted]), {
        op,
        model: name,
        kind,
        call: at,
        calls: 1,
        units: n === REPORTED ? 0 : units,
        price,
        unitCost: n === REPORTED ? null : (costs?.[n] ?? null),
        cost: isFree || !isCounted ? null : costsOf(only, costs).reduce(sum),
        isCounted,
      })
    }
  }
  const pause = yielding()
  for (const at of atOrBelow(calls, [call])) {
    await pause()
    const counted = new Map<string, readonly number[]>()
    for (let entry = own.offsets[at]!; entry < own.offsets[at + 1]!; entry += 1) {
      const counters = own.values.slice(entry * COUNTERS.length, (entry + 1) * COUNTERS.length)
      counted.set(modelOf(own.models[own.model[entry]!]!), counters)
      contribute(at, own.model[entry]!, counters, true)
    }
    const { offsets, model, values } = calls.reported
    for (let entry = offsets[at]!; entry < offsets[at + 1]!; entry += 1) {
      const known = counted.get(modelOf(own.models[model[entry]!]!))
      const all = countersOf(values, entry * FIGURES.length)
      const rest = all.map((counter, place) => counter - (known?.[place] ?? 0))
      if (rest.some((counter) => counter > 0)) contribute(at, model[entry]!, rest, false)
    }
  }
  return [...found.values()].sort(byCost)
}

const together = (a: Contribution, b: Contribution): Contribution => ({
  ...a,
  calls: a.calls + b.calls,
  units: a.units + b.units,
  cost: a.cost === null || b.cost === null ? null : sum(a.cost, b.cost),
})

const byCost = (a: Contribution, b: Contribution): number =>
  Number(b.isCounted) - Number(a.isCounted) ||
  Number(b.cost ?? -1) - Number(a.cost ?? -1) ||
  b.units - a.units
