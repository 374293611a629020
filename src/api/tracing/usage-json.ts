import type { Exact } from '../../domain/price/exact.js'
import { sortYielding, type Answered } from '../../projections/usage/queries.js'
import { yielding } from '../../yield-to-event-loop.js'
import { ByteChunk } from '../http/byte-chunk.js'
import { costsOfCalls, type CostsOfCall } from './usage-costs.js'

const COUNTERS = [
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
]
const COSTS = [
  'prompt_tokens_total_cost',
  'completion_tokens_total_cost',
  'cache_read_input_tokens_total_cost',
  'cache_creation_input_tokens_total_cost',
]

const bytes = (text: string) => Buffer.from(text)

const NAMES = COUNTERS.map((name, i) => bytes(`${i === 0 ? '' : ','}"${name}":`))
const COST_NAMES = COSTS.map((name) => bytes(`,"${name}":`))
const AFTER = bytes(COSTS.map((name) => `,"${name}":null`).join('') + '}')
/** Most entries have no cache counters and no cache costs. */
const NO_CACHE = Buffer.concat([NAMES[4]!, bytes('0'), NAMES[5]!, bytes('0')])
const NO_CACHE_AFTER = Buffer.concat([NO_CACHE, AFTER])
const NO_CACHE_BEFORE_COSTS = Buffer.concat([NO_CACHE, COST_NAMES[0]!])
const NO_CACHE_COSTS = bytes(`,"${COSTS[2]}":0,"${COSTS[3]}":0}`)
const [QUOTE, COMMA, CLOSE] = [34, 44, 125]

/** Generates the usage response in chunks, so that a large trace is never in memory as a whole. */
export async function* usageJson(
  answers: readonly Answered[],
  others: readonly string[] = [],
): AsyncGenerator<Buffer> {
  const yieldNow = yielding()
  const out = new ByteChunk()
  out.text('{"call_usage":{')
  let first = true
  for (const answer of answers) {
    const models = answer.models.map((model) => bytes(`${JSON.stringify(model)}:{`))
    const costs = answer.billed === null ? null : costsOfCalls(answer.billed)
    for (let call = 0; call < answer.size; call += 1) {
      if (!first) out.byte(COMMA)
      first = false
      writeCall(out, answer, models, call, costs)
      if (out.isFull()) {
        yield out.take()
        await yieldNow()
      }
    }
  }
  for (const id of others) {
    out.text(`${first ? '' : ','}${JSON.stringify(id)}:{}`)
    first = false
    if (out.isFull()) yield out.take()
  }
  out.text('},"unfinished_call_ids":[')
  let separator = ''
  for (const id of await unfinishedIds(answers)) {
    out.text(`${separator}"`)
    out.escaped(id, 0, id.length)
    out.text('"')
    separator = ','
    if (out.isFull()) {
      yield out.take()
      await yieldNow()
    }
  }
  out.text(']}')
  yield out.take()
}

/** Sorted by their bytes. */
const unfinishedIds = async (answers: readonly Answered[]): Promise<readonly Uint8Array[]> => {
  const yieldNow = yielding()
  const found: Uint8Array[] = []
  for (const { size, ids, isUnfinished } of answers)
    for (let call = 0; call < size; call += 1) {
      if (isUnfinished[call] === 1) found.push(ids.bytes.subarray(ids.offsets[call], ids.offsets[call + 1]))
      if (call % 64 === 0) await yieldNow()
    }
  return sortYielding(found, (a, b) => Buffer.compare(a, b))
}

const writeCall = (
  out: ByteChunk,
  { ids, inclusive: { set, sets, offsets, values } }: Answered,
  models: readonly Buffer[],
  call: number,
  costs: CostsOfCall | null,
): void => {
  costs?.begin(call)
  out.byte(QUOTE)
  out.escaped(ids.bytes, ids.offsets[call]!, ids.offsets[call + 1]!)
  out.text('":{')
  let at = offsets[call]! * NAMES.length
  let isFirst = true
  for (const model of sets.models(set[call]!)) {
    if (!isFirst) out.byte(COMMA)
    isFirst = false
    out.copy(models[model]!)
    for (let k = 0; k < 4; k += 1) {
      out.copy(NAMES[k]!)
      out.integer(values[at + k]!)
    }
    const hasNoCache = values[at + 4] === 0 && values[at + 5] === 0
    if (hasNoCache && costs === null) out.copy(NO_CACHE_AFTER)
    else {
      if (hasNoCache) out.copy(NO_CACHE_BEFORE_COSTS)
      else {
        out.copy(NAMES[4]!)
        out.integer(values[at + 4]!)
        out.copy(NAMES[5]!)
        out.integer(values[at + 5]!)
        out.copy(costs === null ? AFTER : COST_NAMES[0]!)
      }
      if (costs !== null) writeCosts(out, costs.next(model))
    }
    at += NAMES.length
  }
  out.text('}')
}

/** Everything after the name of the first cost. */
const writeCosts = (out: ByteChunk, amounts: readonly Exact[]): void => {
  out.decimal(amounts[0]!)
  const hasNoCache = amounts[2] === 0 && amounts[3] === 0
  for (let k = 1; k < (hasNoCache ? 2 : COST_NAMES.length); k += 1) {
    out.copy(COST_NAMES[k]!)
    out.decimal(amounts[k]!)
  }
  if (hasNoCache) out.copy(NO_CACHE_COSTS)
  else out.byte(CLOSE)
}
