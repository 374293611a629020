import { addedChildren, type CallSum } from '../../../src/domain/usage/added-children.js'
import type { Family } from './family.js'
import { figure } from './figure.js'
import { isObject, property } from './json.js'
import type { JsonObject, UsageReporting } from './operations.js'
import type { Started } from './started.js'
import { type FoldedUsage, folded, modelKeys, type RawFigures, rawUsage, without } from './usage.js'

/**
 * own(c) of section 3. `everyone` holds deleted calls too: an SDK parent's own usage does not change when
 * a child is deleted.
 */
export const ownUsage = (call: Started, everyone: Family, reporting: UsageReporting): FoldedUsage => {
  const raw = rawUsage(call.end?.summary)
  const added = alreadyAdded(call, everyone, reporting)
  if (added.length === 0) return folded(raw)
  return folded(
    without(
      raw,
      added.map((child) => rawUsage(child.end?.summary)),
    ),
  )
}

export const alreadyAdded = (
  call: Started,
  everyone: Family,
  reporting: UsageReporting,
): ReadonlyArray<Started> => {
  const children = everyone.childrenOf(call).filter((child) => !onOneCycle(child, call, everyone))
  switch (reporting) {
    case 'own':
      return []
    case 'rolled_up':
      return children
    case 'auto': {
      const candidates = children.filter((child) => looksAdded(child, call))
      return countsAllow(call, candidates) ? candidates : addedBySum(call, candidates)
    }
  }
}

const onOneCycle = (child: Started, call: Started, everyone: Family): boolean =>
  everyone.descendsFrom(call, child)

const looksAdded = (child: Started, call: Started): boolean =>
  sourceOf(call) !== undefined &&
  sourceOf(call) !== 'gateway' &&
  [sourceOf(call), 'gateway'].includes(sourceOf(child)) &&
  child.endedAt !== undefined &&
  call.endedAt !== undefined &&
  (sourceOf(child) === 'gateway' || child.endedAt <= call.endedAt) &&
  modelKeys(child.end?.summary).every((model) => modelKeys(call.end?.summary).includes(model))

const sourceOf = (call: Started): 'js-sdk' | 'python-sdk' | 'gateway' | undefined => {
  const source = property(property(call.start.attributes, 'weave'), 'source')
  return source === 'js-sdk' || source === 'python-sdk' || source === 'gateway' ? source : undefined
}

/** A parent that counts fewer calls than its children and itself did not add them up. */
const countsAllow = (call: Started, candidates: ReadonlyArray<Started>): boolean => {
  const own = statusTotal(call.end?.summary)
  const theirs = candidates
    .map((child) => statusTotal(child.end?.summary))
    .filter((total) => total !== undefined)
  if (own === undefined || theirs.length === 0) return true
  return own >= 1n + sum(theirs)
}

/** Which children a sum consists of is decided by the rule of the service, which has a test of its own. */
const addedBySum = (call: Started, candidates: ReadonlyArray<Started>): ReadonlyArray<Started> => {
  const children = candidates.toSorted((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)))
  const [statuses, ...figures] = callSum(call)
  const added = addedChildren([statuses - 1, ...figures], children.map(callSum))
  return children.filter((_, index) => added.has(index))
}

const callSum = (call: Started): CallSum => {
  const usage = [...rawUsage(call.end?.summary).values()]
  const total = (key: keyof RawFigures) => usage.reduce((all, figures) => all + Number(figures[key]), 0)
  const statuses = Number(statusTotal(call.end?.summary) ?? 0n)
  return [statuses, total('requests'), total('prompt_tokens'), total('completion_tokens')]
}

const statusTotal = (summary: JsonObject | undefined): bigint | undefined => {
  const counts = property(summary, 'status_counts')
  return isObject(counts) ? sum(Object.values(counts).map(figure)) : undefined
}

const sum = (figures: ReadonlyArray<bigint>): bigint => figures.reduce((total, one) => total + one, 0n)
