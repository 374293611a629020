import { nullable } from '../../kernel/codec/containers.js'
import { int64, number } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { decimalText } from '../../domain/prices/decimal.js'
import type { Exact } from '../../domain/prices/exact.js'
import { addCosts, costsOf, type Charge } from '../../projections/usage/charges.js'
import { COST_FIELDS, SHOWN_COUNTERS, valuesOf } from '../../projections/usage/columns.js'
import { saturated } from '../../projections/usage/own-usage.js'
import type { AnsweredCall, UsageAnswer } from '../../projections/usage/answer.js'
import type { UsageByKey } from '../../projections/usage/inclusive-usage.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'

/** The members of usage in answers; costs are null if they were not requested. */
export const usageMembers = { ...valuesOf(SHOWN_COUNTERS, int64), ...valuesOf(COST_FIELDS, nullable(number)) }

export const modelUsage = open('ModelUsage', { required: usageMembers })

const NO_COSTS = COST_FIELDS.map((name) => `,"${name}":null`).join('')

const CHUNK_CHARACTERS = 128 * 1024

/** Generates the usage response in chunks, so that a large one is never in memory as a whole. */
export async function* usageJson(
  { calls, unfinishedIds, unfinishedCount }: Pick<UsageAnswer, 'calls' | 'unfinishedIds' | 'unfinishedCount'>,
  { withCosts = false, unknownIds = [] as readonly string[] } = {},
): AsyncGenerator<string> {
  const pause = yielding()
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
  yield `${chunk}]${isCut ? `,"unfinished_count":${unfinishedCount}` : ''}}`
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
  const models = new Map<string, { counters: readonly number[]; costs: readonly Exact[] }>()
  for (const [key, counters] of usage) {
    const { model, costs: prices } = charges[key]!
    const costs = costsOf(counters, prices)
    const before = models.get(model)
    models.set(
      model,
      before === undefined
        ? { counters, costs }
        : {
            counters: counters.map((counter, k) => counter + before.counters[k]!),
            costs: addCosts(costs, before.costs),
          },
    )
  }
  for (const [model, { counters, costs }] of models)
    yield [
      model,
      `${countersText(counters)}${COST_FIELDS.map((name, k) => `,"${name}":${costText(costs[k]!)}`).join('')}`,
    ]
}

const countersText = (counters: readonly number[]): string => {
  let text = ''
  for (const [k, name] of SHOWN_COUNTERS.entries())
    text += `${k === 0 ? '' : ','}"${name}":${saturated(counters[k]!)}`
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
