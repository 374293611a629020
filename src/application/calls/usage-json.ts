import { describedAs } from '../../kernel/codec/codec.js'
import { nullable } from '../../kernel/codec/containers.js'
import { int64, number } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { EXTRA_UNITS, forEach, UNIT_NAMES, UNITS } from '../../domain/prices/units.js'
import { decimalText } from '../../domain/prices/decimal.js'
import type { Exact } from '../../domain/prices/exact.js'
import {
  addCosts,
  costsOf,
  hasChargedTokens,
  shownCounters,
  type Charge,
} from '../../projections/usage/charges.js'
import {
  COST_FIELDS,
  costField,
  COUNTERS,
  isCost,
  isRareCost,
  RARE_COUNTERS,
  SHOWN_COUNTERS,
  valuesOf,
} from '../../projections/usage/columns.js'
import { saturated } from '../../projections/usage/own-usage.js'
import type { AnsweredCall, UsageAnswer } from '../../projections/usage/answer.js'
import type { UsageByKey } from '../../projections/usage/inclusive-usage.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { unpricedMembers } from './unpriced-models.js'

const TOKEN_COSTS = COST_FIELDS.filter((field) => !isRareCost(field))

/** The members of usage in answers; costs are null if they were not requested, or the model has no price. */
export const usageMembers = { ...valuesOf(SHOWN_COUNTERS, int64), ...valuesOf(TOKEN_COSTS, nullable(number)) }

export const modelUsage = open('ModelUsage', {
  required: usageMembers,
  optional: {
    ...forEach(UNIT_NAMES.map(costField), () =>
      describedAs(number, { description: 'What they cost besides tokens. Only where they cost something.' }),
    ),
    ...forEach(EXTRA_UNITS, (unit) =>
      describedAs(int64, { description: `The number of ${UNITS[unit].all}. Only where there is one.` }),
    ),
    provider_cost: describedAs(number, {
      description:
        'What the provider reported that usage without a price cost. Only where there is such usage.',
    }),
    unrecognized_usage: describedAs(int64, {
      description: 'The number of reports that were not understood as a whole. Only where there is one.',
    }),
    cache_hits: describedAs(int64, {
      description: "The number of answers of the gateway's cache. Only where there is one.",
    }),
    saved_tokens: describedAs(int64, { description: 'What the answers that these repeat used.' }),
    saved_cost: describedAs(number, { description: 'What the answers that these repeat cost.' }),
  },
})

const NO_COSTS = TOKEN_COSTS.map((name) => `,"${name}":null`).join('')

const CHUNK_CHARACTERS = 128 * 1024

/** Generates the usage response in chunks, so that a large one is never in memory as a whole. */
export async function* usageJson(
  answer: Pick<UsageAnswer, 'calls' | 'unfinishedIds' | 'unfinishedCount' | 'unpricedModels'>,
  { withCosts = false, unknownIds = [] as readonly string[] } = {},
): AsyncGenerator<string> {
  const pause = yielding()
  const { calls, unfinishedIds, unfinishedCount } = answer
  let chunk = '{"call_usage":{'
  let separator = ''
  for (const { id, usage, charges } of calls) {
    chunk += `${separator}${JSON.stringify(id)}:{`
    separator = ','
    let between = ''
    for (const [model, text] of modelTexts(usage, charges, withCosts)) {
      chunk += `${between}${JSON.stringify(model)}:{${text}}`
      between = ','
      if (chunk.length < CHUNK_CHARACTERS) continue
      yield chunk
      chunk = ''
      await pause()
    }
    chunk += '}'
  }
  for (const id of unknownIds) {
    chunk += `${separator}${JSON.stringify(id)}:{}`
    separator = ','
  }
  yield `${chunk}},"unfinished_call_ids":[`
  separator = ''
  chunk = ''
  for (const id of await sortedByBytes([...unfinishedIds])) {
    chunk += `${separator}${JSON.stringify(id.toString('utf8'))}`
    separator = ','
    if (chunk.length < CHUNK_CHARACTERS) continue
    yield chunk
    chunk = ''
    await pause()
  }
  const isCut = unfinishedIds.size < unfinishedCount
  const more = {
    ...(isCut ? { unfinished_count: unfinishedCount } : {}),
    ...(withCosts ? unpricedMembers(answer.unpricedModels) : {}),
  }
  yield `${chunk}]${Object.entries(more)
    .map(([name, value]) => `,"${name}":${JSON.stringify(value)}`)
    .join('')}}`
}

/** The usage of one call by model. */
export const usageText = ({ usage, charges }: AnsweredCall, withCosts: boolean): string => {
  const members = [...modelTexts(usage, charges, withCosts)]
  return `{${members.map(([model, text]) => `${JSON.stringify(model)}:{${text}}`).join(',')}}`
}

/** The members of each model's usage. A model may have several charges, whose costs are added up. */
function* modelTexts(
  usage: UsageByKey,
  charges: readonly Charge[],
  withCosts: boolean,
): Generator<readonly [model: string, text: string]> {
  if (!withCosts) {
    for (const [key, counters] of usage) yield [charges[key]!.model, `${countersText(counters)}${NO_COSTS}`]
    return
  }
  const models = new Map<string, ModelSums>()
  for (const [key, counters] of usage) {
    const charge = charges[key]!
    const { model, costs: rates } = charge
    const sums = {
      counters: shownCounters(counters, charge),
      costs: costsOf(counters, rates),
      isPriced: rates !== null,
    }
    const before = models.get(model)
    models.set(model, before === undefined ? sums : plus(before, sums))
  }
  for (const [model, sums] of models) yield [model, `${countersText(sums.counters)}${costsText(sums)}`]
}

interface ModelSums {
  readonly counters: readonly number[]
  readonly costs: readonly Exact[]
  readonly isPriced: boolean
}

const plus = (a: ModelSums, b: ModelSums): ModelSums => ({
  counters: a.counters.map((counter, k) => counter + b.counters[k]!),
  costs: addCosts(a.costs, b.costs),
  isPriced: a.isPriced,
})

/** Tokens without a price have no cost, which is not 0. */
const costsText = ({ counters, costs, isPriced }: ModelSums): string => {
  let text = ''
  const isUnknown = !isPriced && hasChargedTokens(counters)
  for (const [k, name] of COST_FIELDS.entries())
    if (!isRareCost(name)) text += `,"${name}":${isUnknown ? 'null' : costText(costs[k]!)}`
    else if (costs[k] !== 0) text += `,"${name}":${costText(costs[k]!)}`
  return text
}

const countersText = (counters: readonly number[]): string => {
  let text = ''
  for (const [k, name] of SHOWN_COUNTERS.entries())
    text += `${k === 0 ? '' : ','}"${name}":${saturated(counters[k]!)}`
  for (const name of RARE_COUNTERS) {
    const count = saturated(counters[COUNTERS.indexOf(name)]!)
    if (count !== 0) text += `,"${name}":${isCost(name) ? costText(count) : count}`
  }
  return text
}

const costText = (cost: Exact): string => (cost === 0 ? '0' : decimalText(BigInt(cost)))

const RUN = 8192

/** Sorts runs and merges them, so that other requests are served meanwhile. */
const sortedByBytes = async (texts: readonly string[]): Promise<readonly Buffer[]> => {
  const pause = yielding()
  let runs: Buffer[][] = []
  for (let from = 0; from < texts.length; from += RUN) {
    const run = texts.slice(from, from + RUN).map((text) => Buffer.from(text))
    runs.push(run.sort((a, b) => Buffer.compare(a, b)))
    await pause()
  }
  while (runs.length > 1) {
    const merged: Buffer[][] = []
    for (let n = 0; n < runs.length; n += 2) {
      const [left, right] = [runs[n]!, runs[n + 1] ?? []]
      const both: Buffer[] = []
      for (let l = 0, r = 0; l < left.length || r < right.length;) {
        const isLeft = r >= right.length || (l < left.length && Buffer.compare(left[l]!, right[r]!) <= 0)
        both.push(isLeft ? left[l++]! : right[r++]!)
        if (both.length % RUN === 0) await pause()
      }
      merged.push(both)
    }
    runs = merged
  }
  return runs[0] ?? []
}
