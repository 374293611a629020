import { compareAmount, numberFrom, type Amount } from '../../../prices/decimal.js'
import type { ChargedCall } from '../../../calls/call-cost.js'
import type { AutomationVersion } from '../state.js'
import type { CallTrigger } from './trigger.js'
import { matched, unmet, type Verdict } from './verdict.js'
import { compareToThreshold, meets } from './windows.js'

/** The cost of a call's own usage by the prices at its end; undefined if it is unknown. */
export type CostOf = (charged: ChargedCall) => Amount | undefined

/** Compares a call with a measured condition. */
export const judgeCall = (
  { content: { event } }: AutomationVersion,
  call: CallTrigger,
  costOf: CostOf,
): Verdict => {
  if (event.type === 'CALL_FAILED') return call.failed ? matched() : unmet({ why: 'not_failed' })
  const { measure } = event
  if (measure === null) return unmet({ why: 'measure_unknown' })
  if (measure === 'cost') return judgeCost(event, call, costOf)
  const measured = call[measure]
  if (measured === null) return unmet({ why: 'measure_unknown' })
  const { value, threshold, met } = compareToThreshold(event, measured)
  return told(measure, value, threshold, met)
}

/** Compares exact amounts: the JSON number in the message is rounded only afterwards. */
const judgeCost = (
  { comparison, threshold }: AutomationVersion['content']['event'],
  { charged }: CallTrigger,
  costOf: CostOf,
): Verdict => {
  if (charged === null || threshold === null) return unmet({ why: 'measure_unknown' })
  const cost = costOf(charged)
  if (cost === undefined) return unmet({ why: 'price_unknown' })
  return told('cost', numberFrom(cost), threshold, meets(comparison, compareAmount(cost, threshold)))
}

const told = (metric_name: string, value: number, threshold: number, met: boolean): Verdict =>
  met
    ? matched({ metric_name, metric_value: value, threshold })
    : unmet({ why: 'threshold', value, threshold })
