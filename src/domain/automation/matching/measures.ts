import { compareAmount, numberFrom, type Amount } from '../../price/decimal.js'
import type { Charged } from '../../price/standing.js'
import type { AutomationVersion } from '../state.js'
import type { CallTrigger } from './trigger.js'
import { matched, unmet, type Verdict } from './verdict.js'
import { against, meets } from './windows.js'

/** What a call cost itself by the prices that stood before it ended; undefined where none of its models had one. */
export type CostOf = (charged: Charged) => Amount | undefined

/** What a call was, against what an automation measures of calls. */
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
  const { value, threshold, met } = against(event, measured)
  return told(measure, value, threshold, met)
}

/** Exactly: that what is told is a JSON number rounds nothing before it is compared. */
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
