import type { Schemas } from '../kit/api.js'
import type { Place } from '../kit/place.js'
import { rangeOf } from '../kit/range.js'
import type { Search } from '../kit/search.js'
import { callsHref } from '../traces/address.js'
import { conjunctsIn, isEqual, type Operand } from '../traces/filter.js'
import { UNITS, type Unit } from './calendar.js'

export const METRICS = [
  { value: 'total_cost', label: 'Cost' },
  { value: 'total_tokens', label: 'Tokens' },
  { value: 'prompt_tokens', label: 'Input tokens' },
  { value: 'completion_tokens', label: 'Output tokens' },
  { value: 'requests', label: 'Requests' },
  { value: 'calls', label: 'Calls' },
] as const
export type Metric = (typeof METRICS)[number]['value']

export const INITIAL_RANGE = '30d'
/** A unit of time is one of them. */
export const MAX_DIMENSIONS = 3
export const NO_TIME = 'none'

/** Of one project, or of all projects of a team. */
export type Scope = Place

export interface UsageQuestion {
  readonly by: readonly string[]
  readonly metric: Metric
  /** Null for usage by dimensions alone. */
  readonly unit: Unit | null
  readonly isInclusive: boolean
  readonly isCompared: boolean
  readonly conditions: readonly Operand[]
  readonly start: string
  readonly end: string
}

/** Usage by time, which a chart shows. */
export type TimedQuestion = UsageQuestion & { readonly unit: Unit }

const DAY_MS = 86_400_000

/** The longest unit that gives a chart of at most about 60 bars. */
const unitFor = (milliseconds: number): Unit =>
  milliseconds <= 2 * DAY_MS
    ? 'hour'
    : milliseconds <= 62 * DAY_MS
      ? 'day'
      : milliseconds <= 200 * DAY_MS
        ? 'week'
        : 'month'

/** What an address asks. */
export const questionOf = (search: Search, initialBy: string, now: number): UsageQuestion => {
  const { from, to = new Date(now).toISOString() } = rangeOf(search['range'] ?? INITIAL_RANGE, now)
  const start = from ?? rangeOf(INITIAL_RANGE, Date.parse(to)).from!
  const names = (search['by'] ?? initialBy).split(',').filter((name) => name !== '' && name !== 'none')
  const by = [...new Set(names)].slice(0, MAX_DIMENSIONS)
  return {
    by,
    metric: METRICS.find(({ value }) => value === search['metric'])?.value ?? 'total_cost',
    unit:
      by.length === MAX_DIMENSIONS || search['per'] === NO_TIME
        ? null
        : (UNITS.find((unit) => unit === search['per']) ?? unitFor(Date.parse(to) - Date.parse(start))),
    isInclusive: search['usage'] === 'inclusive',
    isCompared: search['compare'] !== '0',
    conditions: conjunctsIn(search['filter']),
    start,
    end: to,
  }
}

type UsageBody = Schemas['UsageQueryRequest']

/** The request without groups. Inclusive usage is that of traces, so that nothing counts twice. */
export const bodyOf = (scope: Scope, question: UsageQuestion, timezone: string): UsageBody => {
  const { conditions, isInclusive, start, end } = question
  return {
    ...(scope.project === '' ? { team: scope.team } : { project_id: `${scope.team}/${scope.project}` }),
    start,
    end,
    timezone,
    include_costs: true,
    usage: isInclusive ? 'inclusive' : 'own',
    ...(isInclusive ? { filter: { trace_roots_only: true } } : {}),
    ...(conditions.length === 0 ? {} : { query: { $expr: { $and: conditions } } as never }),
  }
}

const FIELDS: Readonly<Record<string, string>> = {
  op: 'summary.weave.op',
  user: 'wb_user_id',
  key: 'attributes.tallytree.key_id',
}

/** The calls that a group counts: those with usage and the values of its dimensions. */
export const groupHref = (
  { team, project }: Scope,
  { conditions, isInclusive, by }: Pick<UsageQuestion, 'conditions' | 'isInclusive' | 'by'>,
  group: Readonly<Record<string, string>>,
  range: string,
): string => {
  const used = group['model'] ?? '*'
  const place = { team, project: project === '' ? (group['project'] ?? '') : project }
  return callsHref(place, {
    conditions: [
      ...conditions,
      { $usedModel: isInclusive ? used : [used, 'own'] },
      ...by
        .filter((name) => name !== 'model' && name !== 'project')
        .map((name) => isEqual(FIELDS[name] ?? name, group[name] ?? '')),
    ],
    range,
    all: !isInclusive,
  })
}
