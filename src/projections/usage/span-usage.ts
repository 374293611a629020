import { FIGURES, totalTokens, type Figure } from '../../domain/calls/usage/reported.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { SOURCES } from './columns.js'
import { topologyOf } from '../calls/topology.js'
import type { TraceCalls } from './trace.js'

/** The values of `FIGURES`. */
type Figures = readonly number[]

/** The nearest calls below a call that report usage. */
interface CallsBelow {
  /** Of all that was used at or below them. */
  readonly sum: Figures
  /** The ids of their responses; null where one has none. */
  readonly responseIds: Set<string> | null
}

/**
 * What spans of OpenTelemetry used themselves, where the calls below them report usage too. Agents and wrappers repeat the
 * figures of the calls below them:
 *
 * - A span whose response none of the nearest calls below has is a call of its own, and used what it reports.
 * - A span that reports at least as much as they used together used the rest.
 * - A span that reports less knows only some of them, and used nothing itself.
 */
export const spanUsage = async (calls: TraceCalls): Promise<ReadonlyMap<number, Figures>> => {
  const own = new Map<number, Figures>()
  if (!Array.prototype.includes.call(calls.source, OTEL)) return own
  const { order, acyclic } = topologyOf(calls.parent)
  const pending = new Map<number, CallsBelow>()
  const pause = yielding()
  for (let at = 0; at < acyclic; at += 1) {
    if (at % 64 === 0) await pause()
    const call = order[at]!
    const reported = figuresOf(calls, call)
    const below = pending.get(call)
    pending.delete(call)
    const id = calls.responseId[call]!
    let passed = below
    if (reported !== undefined) {
      let sum = reported
      if (below !== undefined && calls.source[call] === OTEL) {
        const isOther = id !== '' && below.responseIds !== null && !below.responseIds.has(id)
        const isWhole = TOKENS.every((figure) => reported[figure]! >= below.sum[figure]!)
        own.set(call, isOther ? reported : isWhole ? rest(reported, below.sum) : NOTHING)
        sum = isOther ? added(reported, below.sum) : isWhole ? reported : below.sum
      }
      passed = { sum, responseIds: id === '' ? null : new Set([id]) }
    }
    const above = calls.parent[call]!
    if (passed !== undefined && above >= 0) pending.set(above, together(pending.get(above), passed))
  }
  return own
}

const OTEL = SOURCES.indexOf('otel')

const TOKENS = (
  [
    'prompt_tokens',
    'completion_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
  ] as const satisfies readonly Figure[]
).map((figure) => FIGURES.indexOf(figure))

const TOTAL = FIGURES.indexOf('total_tokens')
const PROMPT = FIGURES.indexOf('prompt_tokens')
const COMPLETION = FIGURES.indexOf('completion_tokens')

const NOTHING: Figures = FIGURES.map(() => 0)

/** Over all models; undefined where there are none. */
const figuresOf = ({ reported: { offsets, values } }: TraceCalls, call: number): Figures | undefined => {
  const [from, to] = [offsets[call]!, offsets[call + 1]!]
  if (from === to) return undefined
  const sum = [...NOTHING]
  for (let entry = from; entry < to; entry += 1) {
    const first = entry * FIGURES.length
    const [total_tokens, prompt_tokens, completion_tokens] = [TOTAL, PROMPT, COMPLETION].map(
      (figure) => values[first + figure]!,
    ) as [number, number, number]
    for (let k = 0; k < FIGURES.length; k += 1)
      sum[k]! +=
        k === TOTAL ? totalTokens({ total_tokens, prompt_tokens, completion_tokens }) : values[first + k]!
  }
  return sum.some((figure) => figure !== 0) ? sum : undefined
}

const added = (a: Figures, b: Figures): Figures => a.map((figure, k) => figure + b[k]!)

const rest = (a: Figures, b: Figures): Figures => a.map((figure, k) => Math.max(0, figure - b[k]!))

/** The smaller set of ids goes into the larger one, which nothing else holds. */
const together = (a: CallsBelow | undefined, b: CallsBelow): CallsBelow => {
  if (a === undefined) return b
  const sum = added(a.sum, b.sum)
  if (a.responseIds === null || b.responseIds === null) return { sum, responseIds: null }
  const [small, large] =
    a.responseIds.size < b.responseIds.size ? [a.responseIds, b.responseIds] : [b.responseIds, a.responseIds]
  for (const id of small) large.add(id)
  return { sum, responseIds: large }
}
