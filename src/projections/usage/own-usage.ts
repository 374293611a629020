import { addedChildren, type CallSum } from '../../domain/usage/added-children.js'
import { FIGURES, type Figure } from '../../domain/calls/usage/reported.js'
import { partsOf, plainKey, sizeOf, variantKey } from '../../domain/prices/variant.js'
import { LARGEST_EXACT } from '../../domain/prices/exact.js'
import type { UsageReporting } from '../../domain/projects/project.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { COUNTER_COLUMNS, COUNTERS, SOURCES } from './columns.js'
import { topologyOf } from '../calls/topology.js'
import { spanUsage } from './span-usage.js'
import type { ModelEntries, TraceCalls } from './trace.js'

/** Sums are exact up to 2^53. Larger ones are shown as 2^53. */
export const saturated = (value: number): number => Math.max(-LARGEST_EXACT, Math.min(LARGEST_EXACT, value))

const COUNTER_OF = COUNTERS.map((counter) => COUNTER_COLUMNS[counter].of)

const AT = Object.fromEntries(FIGURES.map((figure, place) => [figure, place])) as Record<Figure, number>

/** The values of `COUNTERS` from a model's figures. A literal object is several times faster than one that is filled. */
export const countersOf = (figures: ArrayLike<number>, from = 0): number[] => {
  const used: Record<Figure, number> = {
    requests: figures[from + AT.requests]!,
    prompt_tokens: figures[from + AT.prompt_tokens]!,
    completion_tokens: figures[from + AT.completion_tokens]!,
    total_tokens: figures[from + AT.total_tokens]!,
    cache_read_input_tokens: figures[from + AT.cache_read_input_tokens]!,
    cache_creation_input_tokens: figures[from + AT.cache_creation_input_tokens]!,
    cache_creation_1h_input_tokens: figures[from + AT.cache_creation_1h_input_tokens]!,
    prompt_audio_tokens: figures[from + AT.prompt_audio_tokens]!,
    completion_audio_tokens: figures[from + AT.completion_audio_tokens]!,
    web_search_requests: figures[from + AT.web_search_requests]!,
    seconds: figures[from + AT.seconds]!,
    characters: figures[from + AT.characters]!,
    images: figures[from + AT.images]!,
    reported_cost: figures[from + AT.reported_cost]!,
    unrecognized_usage: figures[from + AT.unrecognized_usage]!,
    cache_hits: figures[from + AT.cache_hits]!,
    saved_tokens: figures[from + AT.saved_tokens]!,
    saved_cost: figures[from + AT.saved_cost]!,
  }
  const counters: number[] = []
  for (const of of COUNTER_OF) counters.push(of(used))
  return counters
}

/** Usage by keys of models with variants: those of the calls, and others after them. */
export interface OwnUsage extends ModelEntries {
  readonly models: readonly string[]
}

/**
 * The usage of each call without its descendants': its reported figures minus those of the children that an SDK has
 * already added to it. `COUNTERS` per entry; entries without a counter and those of deleted calls are left out.
 */
export const ownUsage = async (calls: TraceCalls, reporting: UsageReporting): Promise<OwnUsage> => {
  const { models, plain, withSize } = variantsOf(calls.models)
  const entries = calls.reported
  const reported = { ...entries, model: entries.model.map((model) => plain[model]!) }
  const plainCalls = { ...calls, reported }
  const { ids, isDeleted } = calls
  const pause = yielding()
  const childrenOf = includableChildren(calls, reporting)
  const ofSpans = reporting === 'auto' ? await spanUsage(calls) : new Map<number, readonly number[]>()
  const entryOf = new Int32Array(models.length).fill(-1)
  const own = { models, offsets: [0], model: [] as number[], values: [] as number[] }
  for (let call = 0; call < ids.length; call += 1) {
    if (call % 64 === 0) await pause()
    const [from, to] = [reported.offsets[call]!, reported.offsets[call + 1]!]
    if (isDeleted[call] === 0 && from < to) {
      // A span reports usage of one model.
      const ofSpan = to - from === 1 ? ofSpans.get(call) : undefined
      const figures = [...(ofSpan ?? reported.values.slice(from * FIGURES.length, to * FIGURES.length))]
      const children = childrenOf(call)
      if (children.length > 0) {
        for (let entry = from; entry < to; entry += 1) entryOf[reported.model[entry]!] = entry - from
        const included = alreadyIncluded(plainCalls, call, children, entryOf, reporting)
        for (const [n, child] of included.entries()) {
          subtract(figures, reported, child, entryOf)
          if (n % 64 === 0) await pause()
        }
        if (included.length > 0) figures.forEach((figure, k) => (figures[k] = Math.max(0, figure)))
        for (let entry = from; entry < to; entry += 1) entryOf[reported.model[entry]!] = -1
      }
      for (let entry = from; entry < to; entry += 1) {
        const at = (entry - from) * FIGURES.length
        const counters = countersOf(figures, at)
        if (counters.every((counter) => counter === 0)) continue
        const [requests, prompt_tokens] = [figures[at + AT.requests]!, figures[at + AT.prompt_tokens]!]
        own.model.push(withSize(entries.model[entry]!, sizeOf({ requests, prompt_tokens })))
        own.values.push(...counters)
      }
    }
    own.offsets.push(own.model.length)
  }
  return own
}

/** The keys of models, which are added to with the sizes of prompts, and the index of each one's model without a variant. */
const variantsOf = (reported: readonly string[]) => {
  const models = [...reported]
  const indexes = new Map(models.map((key, index) => [key, index]))
  const indexOf = (key: string): number => {
    const known = indexes.get(key)
    if (known !== undefined) return known
    indexes.set(key, models.length)
    return models.push(key) - 1
  }
  const plain = reported.map((key) => indexOf(plainKey(key)))
  const withSize = (index: number, above: number): number => {
    if (above === 0) return index
    const { model, ...variant } = partsOf(models[index]!)
    return indexOf(variantKey(model, { ...variant, above }))
  }
  return { models, plain, withSize }
}

/** Lists the children of a call, except those on a cycle, which no parent's figures include. */
const includableChildren = (
  { parent }: TraceCalls,
  reporting: UsageReporting,
): ((call: number) => readonly number[]) => {
  if (reporting === 'own') return () => []
  const { order, acyclic } = topologyOf(parent)
  const first = new Int32Array(parent.length).fill(-1)
  const next = new Int32Array(parent.length).fill(-1)
  for (let at = acyclic - 1; at >= 0; at -= 1) {
    const [child, above] = [order[at]!, parent[order[at]!]!]
    if (above < 0) continue
    next[child] = first[above]!
    first[above] = child
  }
  return (call) => {
    const children: number[] = []
    for (let child = first[call]!; child >= 0; child = next[child]!) children.push(child)
    return children
  }
}

/** The children whose usage an SDK has added to the parent's, by the rules of docs/usage.md. */
const alreadyIncluded = (
  calls: TraceCalls,
  parent: number,
  children: readonly number[],
  entryOf: Int32Array,
  reporting: UsageReporting,
): readonly number[] => {
  if (reporting === 'rolled_up') return children
  const included = children.filter(
    (child) =>
      isOfOneSource(calls, child, parent) &&
      isInTime(calls, child, parent) &&
      hasItsModels(calls, child, entryOf),
  )
  const { statusTotal } = calls
  const counted = included.filter((child) => !Number.isNaN(statusTotal[child]!))
  const least = counted.reduce((sum, child) => sum + statusTotal[child]!, 1)
  if (counted.length === 0 || !(statusTotal[parent]! < least)) return included
  included.sort((a, b) => a - b)
  const [statuses, ...figures] = sumOf(calls, parent)
  const added = addedChildren(
    [statuses - 1, ...figures],
    included.map((child) => sumOf(calls, child)),
  )
  return included.filter((_, index) => added.has(index))
}

const sumOf = ({ reported, statusTotal }: TraceCalls, call: number): CallSum => {
  const total = (figure: Figure): number => {
    let sum = 0
    for (let entry = reported.offsets[call]!; entry < reported.offsets[call + 1]!; entry += 1)
      sum += reported.values[entry * FIGURES.length + AT[figure]]!
    return sum
  }
  const statuses = statusTotal[call]!
  return [
    Number.isNaN(statuses) ? 0 : statuses,
    total('requests'),
    total('prompt_tokens'),
    total('completion_tokens'),
  ]
}

const GATEWAY = SOURCES.indexOf('gateway')
const SDKS: readonly number[] = [SOURCES.indexOf('js-sdk'), SOURCES.indexOf('python-sdk')]

/** An SDK adds up the calls that it wrote itself, and reads the usage of a completion in the gateway's response. */
const isOfOneSource = ({ source }: TraceCalls, child: number, parent: number): boolean =>
  SDKS.includes(source[parent]!) && (source[child] === source[parent] || source[child] === GATEWAY)

/** The gateway's clock isn't that of the SDK's machine, so the order of its ends is not compared. */
const isInTime = ({ source, ended }: TraceCalls, child: number, parent: number): boolean =>
  source[child] === GATEWAY
    ? !Number.isNaN(ended[child]) && !Number.isNaN(ended[parent])
    : ended[child]! <= ended[parent]!

const hasItsModels = ({ reported }: TraceCalls, child: number, entryOf: Int32Array): boolean => {
  for (let entry = reported.offsets[child]!; entry < reported.offsets[child + 1]!; entry += 1)
    if (entryOf[reported.model[entry]!] === -1) return false
  return true
}

const subtract = (figures: number[], reported: ModelEntries, child: number, entryOf: Int32Array): void => {
  for (let entry = reported.offsets[child]!; entry < reported.offsets[child + 1]!; entry += 1) {
    const to = entryOf[reported.model[entry]!]!
    if (to < 0) continue
    for (let k = 0; k < FIGURES.length; k += 1)
      figures[to * FIGURES.length + k]! -= reported.values[entry * FIGURES.length + k]!
  }
}
