import { callEvents, type CallStarted } from '../../domain/calls/call.js'
import {
  extrasOf,
  FIGURES,
  reportedUsageOf,
  tierKey,
  type ModelUsage,
  type ReportedUsage,
} from '../../domain/calls/usage/reported.js'
import { EXTRAS } from '../../domain/prices/variant.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { EventOf } from '../../kernel/decider.js'
import { usageReportingChosen } from '../../domain/projects/project.js'
import { dateTime64 } from '../clickhouse-values.js'
import { projectionOf, type Projected } from '../projection.js'
import type { RowOf } from '../table.js'
import { emptyFact, END_LABELS, LABEL_COLUMNS, START_LABELS, type UsageFact } from './columns.js'
import { FACTS, REPORTING } from './tables.js'

const { CallStarted, CallEnded, CallDeleted } = callEvents
const EVENTS = { CallStarted, CallEnded, CallDeleted, UsageReportingChosen: usageReportingChosen }
type UsageEvent = Projected<EventOf<typeof EVENTS>>

/** Projects calls to `usage_facts`, and a project's choice of reporting to `usage_reporting`. */
export const usageProjection = projectionOf('usage', EVENTS, (events) => {
  const facts = new Map<string, UsageFact>()
  const choices: RowOf<typeof REPORTING>[] = []
  for (const event of events) applyTo(facts, choices, event)
  return [FACTS.rows([...facts.values()]), REPORTING.rows(choices)]
})

/**
 * An end whose start is not known yet makes no fact: it has no trace, and the start that follows carries the end's
 * figures again. A deletion masks the facts of its call.
 */
const applyTo = (
  facts: Map<string, UsageFact>,
  choices: RowOf<typeof REPORTING>[],
  event: UsageEvent,
): void => {
  const position = String(event.position)
  switch (event.type) {
    case 'CallStarted': {
      const { project_id, id, trace_id, end } = event.data
      const fact = factOf(facts, project_id, trace_id, id, position)
      fact.started_position = position
      structure(fact, event.data)
      for (const label of START_LABELS) fact[label] = LABEL_COLUMNS[label].of(event.data)
      if (end !== null) ending(fact, end, position)
      return
    }
    case 'CallEnded': {
      const { project_id, id, start } = event.data
      if (start === null) return
      const fact = factOf(facts, project_id, start.trace_id, id, position)
      structure(fact, start)
      ending(fact, event.data, position)
      return
    }
    case 'CallDeleted': {
      const { project_id, id, trace_id } = event.data
      if (trace_id === null) return
      const fact = factOf(facts, project_id, trace_id, id, position)
      if (fact.deleted_position === '0' || event.position < BigInt(fact.deleted_position))
        fact.deleted_position = position
      return
    }
    case 'UsageReportingChosen':
      choices.push({ ...event.data, position: event.position })
  }
}

const factOf = (
  facts: Map<string, UsageFact>,
  projectId: string,
  traceId: string,
  callId: string,
  position: string,
): UsageFact => {
  const key = `${projectId}/${callId}`
  let fact = facts.get(key)
  if (fact === undefined) {
    fact = emptyFact(projectId, traceId, callId)
    facts.set(key, fact)
  }
  fact.position = position
  return fact
}

type Structure = Pick<CallStarted, 'parent_id' | 'started_at' | 'source'>

const structure = (fact: UsageFact, { parent_id, started_at, source }: Structure): void => {
  fact.parent_id = parent_id ?? ''
  fact.started_at = dateTime64(started_at)
  fact.source = source ?? ''
}

const ending = (
  fact: UsageFact,
  end: {
    readonly ended_at: Structure['started_at']
    readonly usage: ReportedUsage
    readonly exception: string | null
    readonly summary?: Json
  },
  position: string,
): void => {
  fact.ended_position = position
  fact.ended_at = dateTime64(end.ended_at)
  fact.status_total = end.usage.status_total
  fact.response_id = end.usage.response_id ?? ''
  for (const label of END_LABELS) fact[label] = LABEL_COLUMNS[label].of(end)
  const figures: number[] = []
  const models = end.usage.models.map((used) => withOptional(used, end.summary ?? null))
  for (const used of models)
    for (const figure of FIGURES) figures.push(figure === UNRECOGNIZED ? unrecognizedIn(used) : used[figure])
  fact.models = models.map(tierKey)
  fact.figures = figures
}

const UNRECOGNIZED = 'unrecognized_usage'

/** What only some prices charge. */
const hasOptional = (used: ModelUsage): boolean =>
  used.service_tier !== undefined || extrasOf(used).length > 0

/** A tier of service or an extra counts as not understood until a price is found that knows it. */
const unrecognizedIn = (used: ModelUsage): number =>
  hasOptional(used) ? Math.max(1, used[UNRECOGNIZED]) : used[UNRECOGNIZED]

/** Events of earlier releases have no tier of service and extras, which are then read from the summary. */
const withOptional = (used: ModelUsage, summary: Json): ModelUsage => {
  if (extrasOf(used).length > 0 || used[UNRECOGNIZED] === 0 || !isJsonObject(summary)) return used
  const again = reportedUsageOf(summary).models.find(({ model }) => model === used.model)
  if (again === undefined || !hasOptional(again)) return used
  const { service_tier = used.service_tier, [UNRECOGNIZED]: unrecognized } = again
  return {
    ...used,
    ...(service_tier === undefined ? {} : { service_tier }),
    ...Object.fromEntries(EXTRAS.map((extra) => [extra, again[extra]])),
    [UNRECOGNIZED]: unrecognized,
  }
}
