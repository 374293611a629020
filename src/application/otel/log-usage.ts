import type { CallEnded, CallStarted } from '../../domain/calls/call.js'
import { FIGURES, tierKey } from '../../domain/calls/usage/reported.js'
import { partsOf } from '../../domain/prices/variant.js'
import type { UsageReporting } from '../../domain/projects/project.js'
import { microseconds, type Instant } from '../../kernel/codec/instant.js'
import { topologyOf } from '../../projections/calls/topology.js'
import { COUNTERS, SHOWN_COUNTERS, SOURCES, type ShownCounter } from '../../projections/usage/columns.js'
import { ownUsage } from '../../projections/usage/own-usage.js'
import { traceBuilder, YEAR_2100, type Fact, type TraceCalls } from '../../projections/usage/trace.js'

export type UsageOfModel = Readonly<Record<ShownCounter, number>> & { readonly model: string }

/** What a call used itself. */
export interface CallUsage {
  readonly models: readonly UsageOfModel[]
  readonly hasChildren: boolean
}

/** What a whole log says about its calls. */
export interface LogUsage {
  readonly usageOf: (project: string, id: string) => CallUsage | undefined
  /** Whether it or a call above it was deleted. */
  readonly isDeleted: (project: string, id: string) => boolean
}

type FactOfCall = { -readonly [K in keyof Fact]: Fact[K] }

/** Gathers facts of calls in log order, about 1 KB a call. */
export const logUsage = () => {
  const projects = new Map<string, Map<string, Map<string, FactOfCall>>>()
  const reporting = new Map<string, UsageReporting>()

  const factOf = (project: string, traceId: string, id: string): FactOfCall => {
    const traces = getOrAdd(projects, project, () => new Map<string, Map<string, FactOfCall>>())
    const calls = getOrAdd(traces, traceId, () => new Map<string, FactOfCall>())
    return getOrAdd(calls, id, () => ({
      // All calls of a trace share the text of its id.
      ...{
        traceId: first(calls)?.traceId ?? traceId,
        id,
        parentId: '',
        hasStart: false,
        hasEnd: false,
        isDeleted: false,
      },
      ...{ started: 0, ended: NaN, source: 0, statusTotal: NaN, responseId: '' },
      ...{ models: NONE, figures: NONE },
    }))
  }

  const noteEnd = (fact: FactOfCall, { ended_at, usage }: Pick<CallEnded, 'ended_at' | 'usage'>): void => {
    fact.hasEnd = true
    fact.ended = timeOf(ended_at)
    fact.statusTotal = usage.status_total ?? NaN
    fact.responseId = usage.response_id ?? ''
    if (usage.models.length === 0) return
    fact.models = usage.models.map(tierKey)
    fact.figures = usage.models.flatMap((used) => FIGURES.map((figure) => used[figure]))
  }

  return {
    start: (start: CallStarted): void => {
      const fact = factOf(start.project_id, start.trace_id, start.id)
      fact.hasStart = true
      fact.parentId = start.parent_id ?? ''
      fact.source = SOURCES.indexOf(start.source ?? '')
      if (start.end !== null) noteEnd(fact, start.end)
    },
    /** The start of an end without one repeats the end. */
    end: (end: CallEnded): void => {
      if (end.start !== null) noteEnd(factOf(end.project_id, end.start.trace_id, end.id), end)
    },
    remove: (project: string, traceId: string, id: string): void => {
      factOf(project, traceId, id).isDeleted = true
    },
    choose: (project: string, chosen: UsageReporting): void => void reporting.set(project, chosen),
    finish: async (): Promise<LogUsage> => {
      const usage = new Map<string, CallUsage>()
      const deleted = new Set<string>()
      for (const [project, traces] of projects) {
        projects.delete(project)
        for (const facts of traces.values()) {
          const builder = traceBuilder()
          for (const id of [...facts.keys()].sort()) builder.add(facts.get(id)!)
          const calls = await builder.finish()
          for (const id of deletedIn(calls, facts)) deleted.add(keyOf(project, id))
          const used = await usageIn(calls, reporting.get(project) ?? 'auto')
          for (const [id, ofCall] of used) usage.set(keyOf(project, id), ofCall)
        }
      }
      return {
        usageOf: (project, id) => usage.get(keyOf(project, id)),
        isDeleted: (project, id) => deleted.has(keyOf(project, id)),
      }
    },
  }
}

const NONE: readonly never[] = []

const first = <A>(map: ReadonlyMap<string, A>): A | undefined => map.values().next().value

const keyOf = (project: string, id: string): string => `${project}/${id}`

const timeOf = (instant: Instant): number => Number(microseconds(instant) - YEAR_2100)

const getOrAdd = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

const deletedIn = (
  { ids, parent }: TraceCalls,
  facts: ReadonlyMap<string, FactOfCall>,
): readonly string[] => {
  const deleted = new Set<number>()
  for (const call of topologyOf(parent).order.reverse())
    if (facts.get(ids[call]!)!.isDeleted || deleted.has(parent[call]!)) deleted.add(call)
  return [...deleted].map((call) => ids[call]!)
}

const usageIn = async (
  calls: TraceCalls,
  reporting: UsageReporting,
): Promise<ReadonlyMap<string, CallUsage>> => {
  const { models, offsets, model, values } = await ownUsage(calls, reporting)
  const parents = new Set(calls.parent)
  const found = new Map<string, CallUsage>()
  for (const [call, id] of calls.ids.entries()) {
    const used: UsageOfModel[] = []
    for (let entry = offsets[call]!; entry < offsets[call + 1]!; entry += 1) {
      const counters = SHOWN_COUNTERS.map((name, at) => [name, values[entry * COUNTERS.length + at]!])
      used.push({
        ...Object.fromEntries(counters),
        model: partsOf(models[model[entry]!]!).model,
      } as UsageOfModel)
    }
    if (used.length > 0) found.set(id, { models: used, hasChildren: parents.has(call) })
  }
  return found
}
