import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import type { CallSelection } from '../../projections/calls/select.js'
import type { PriceBook } from '../../projections/prices/book.js'
import { usageBy, type UsageFigures, type UsageGroup } from '../../projections/usage/query/queries.js'
import { readTotals } from '../../projections/usage/query/open-traces.js'
import { earlierRange, withPreviousRange } from '../../projections/usage/query/previous-range.js'
import { sumOfFigures } from '../../projections/usage/query/sums.js'
import { callGroups, callStats, type CallMetric } from '../../projections/usage/stats/call-stats.js'
import type { RequestedMetric } from '../../projections/usage/stats/metric.js'
import { distinctValues, hasCalls, statusCounts } from '../../projections/usage/stats/root-figures.js'

/** Figures of the root calls of a range. */
export interface RootFigures {
  readonly traces: number
  readonly errors: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly users: number
}

export interface Overview {
  readonly hasCalls: boolean
  readonly userField: string
  readonly current: RootFigures
  readonly previous: RootFigures
  readonly usage: UsageFigures
  readonly previousUsage: UsageFigures
  readonly starts: readonly number[]
  readonly statuses: readonly { readonly status: string; readonly traces: readonly number[] }[]
  readonly p50: readonly (number | null)[]
  readonly p95: readonly (number | null)[]
  readonly costs: readonly {
    readonly model: string | null
    readonly usage: readonly (UsageFigures | undefined)[]
  }[]
  readonly ops: readonly {
    readonly op: string
    readonly calls: number
    readonly errors: number
    readonly p95_ms: number | null
    readonly usage: UsageFigures | undefined
  }[]
  readonly models: readonly {
    readonly model: string
    readonly usage: UsageFigures
    readonly previous: UsageFigures | undefined
  }[]
  readonly users: readonly {
    readonly user: string
    readonly traces: number
    readonly errors: number
    readonly usage: UsageFigures | undefined
  }[]
}

interface OverviewQuery {
  readonly projectId: string
  readonly position: Position
  readonly began: NonNullable<CallSelection['began']>
  /** Of the buckets of the charts, in seconds since 1970. */
  readonly starts: readonly number[]
  readonly prices: PriceBook | null
}

const ROWS = 8
const MAX_MODELS = 7
const MAX_GROUPS = 100_000
const ROOTS = { ...NO_FILTER, trace_roots_only: true }
/** Without end users, the owners of the API keys are the users. */
const USER_FIELDS = ['end_user', 'wb_user_id'] as const

const LATENCY: RequestedMetric<CallMetric> = { metric: 'latency_ms', aggregations: [], percentiles: [50, 95] }
const FIGURES: readonly RequestedMetric<CallMetric>[] = [
  { metric: 'call_count', aggregations: ['sum'], percentiles: [] },
  { metric: 'error_count', aggregations: ['sum'], percentiles: [] },
  LATENCY,
]

/** What the calls of a range did, compared with the range of the same length before. */
export const overview = async (reader: ClickHouseReader, query: OverviewQuery): Promise<Overview> => {
  const { projectId, position, began, starts } = query
  const roots = { projectId, position, filter: ROOTS, operation: null }
  const before = earlierRange(began)
  const figuresOf = async (range: typeof began) => {
    const { buckets } = await callStats(reader)({ ...roots, began: range, starts: [0] }, FIGURES)
    const { figures } = [...buckets][0]!
    return {
      traces: figures['call_count_sum'] as number,
      errors: figures['error_count_sum'] as number,
      p50_ms: figures['latency_ms_p50'] as number | null,
      p95_ms: figures['latency_ms_p95'] as number | null,
    }
  }
  const usersOf = (range: typeof began) => distinctValues(reader, { ...roots, began: range }, USER_FIELDS)
  const [current, previous, latency, statuses, usage, ops, users, previousUsers] = await Promise.all([
    figuresOf(began),
    figuresOf(before),
    callStats(reader)({ ...roots, began, starts }, [LATENCY]),
    statusCounts(reader, { ...roots, began, starts }),
    ownUsage(reader, query),
    callGroups(reader, { ...roots, filter: null, began }, ['summary.weave.op'], [LATENCY], ROWS),
    usersOf(began),
    usersOf(before),
  ])
  const place = users[0]! + previousUsers[0]! > 0 ? 0 : 1
  const latencies = [...latency.buckets].map(({ figures }) => figures)
  return {
    hasCalls: current.traces + usage.models.length > 0 || (await hasCalls(reader, projectId)),
    userField: USER_FIELDS[place],
    current: { ...current, users: users[place]! },
    previous: { ...previous, users: previousUsers[place]! },
    usage: usage.current,
    previousUsage: usage.previous,
    starts,
    statuses: byStatus(starts, statuses),
    p50: latencies.map((figures) => figures['latency_ms_p50'] as number | null),
    p95: latencies.map((figures) => figures['latency_ms_p95'] as number | null),
    costs: usage.costs,
    ops: ops.groups.map(({ key: [op], calls, failed, figures }) => ({
      op: op ?? '',
      calls,
      errors: failed,
      p95_ms: figures['latency_ms_p95'] as number | null,
      usage: usage.byOp.get(op ?? ''),
    })),
    models: usage.models.slice(0, ROWS),
    users: await usersOfTraces(reader, query, USER_FIELDS[place]),
  }
}

const byStatus = (starts: readonly number[], counts: Awaited<ReturnType<typeof statusCounts>>) => {
  const places = new Map(starts.map((start, at) => [start, at]))
  const found = new Map<string, number[]>()
  for (const { start, status, calls } of counts) {
    const traces = found.get(status) ?? starts.map(() => 0)
    traces[places.get(start)!] = calls
    found.set(status, traces)
  }
  return [...found].map(([status, traces]) => ({ status, traces }))
}

/** Own usage by model, and by op. */
const ownUsage = async (
  reader: ClickHouseReader,
  { projectId, position, began, starts, prices }: OverviewQuery,
) => {
  const asked = { projectId, position, began, prices, filter: null, operation: null, kind: 'own' } as const
  const [groups, byOp] = await readTotals(reader, withPreviousRange(asked, true), (open) => {
    const usageOf = { ...asked, open, orderBy: [], limit: MAX_GROUPS }
    const byModel = [{ name: 'day', starts }, { name: 'model' }] as const
    return Promise.all([
      usageBy(reader, { ...usageOf, groupBy: byModel, isCompared: true }),
      usageBy(reader, { ...usageOf, groupBy: [{ name: 'op' }], isCompared: false }),
    ])
  })
  const models = modelsOf(groups)
  return {
    current: sumOfFigures(groups.map(({ figures }) => figures)),
    previous: sumOfFigures(groups.flatMap(({ previous }) => previous ?? [])),
    models: models.filter(({ usage }) => usage.calls > 0n),
    costs: costsOf(models, groups, starts),
    byOp: new Map(byOp.map(({ key, figures }) => [key?.[0] as string, figures])),
  }
}

/** The one that costs most first, and then the one with the most tokens. */
const modelsOf = (groups: readonly UsageGroup[]) => {
  const byModel = new Map<string, UsageGroup[]>()
  for (const group of groups) {
    if (group.key === undefined) continue
    const model = group.key[1] as string
    byModel.set(model, [...(byModel.get(model) ?? []), group])
  }
  const models = [...byModel].map(([model, of]) => ({
    model,
    usage: sumOfFigures(of.map(({ figures }) => figures)),
    previous: sumOfFigures(of.flatMap(({ previous }) => previous ?? [])),
  }))
  const order = (one: bigint, other: bigint) => (one > other ? -1 : one < other ? 1 : 0)
  return models.sort(
    (one, other) =>
      order(one.usage.total_cost, other.usage.total_cost) ||
      order(one.usage.total_tokens, other.usage.total_tokens),
  )
}

/** By bucket, of the models that cost something. */
const costsOf = (
  models: ReturnType<typeof modelsOf>,
  groups: readonly UsageGroup[],
  starts: readonly number[],
): Overview['costs'] => {
  const costly = models.filter(({ usage }) => usage.total_cost > 0n).map(({ model }) => model)
  const found = new Map(groups.map(({ key, figures }) => [JSON.stringify(key), figures]))
  const of = (model: string) => starts.map((start) => found.get(JSON.stringify([start, model])))
  const others = costly.slice(MAX_MODELS).map(of)
  return [
    ...costly.slice(0, MAX_MODELS).map((model) => ({ model, usage: of(model) })),
    ...(others.length === 0
      ? []
      : [
          { model: null, usage: starts.map((_, at) => sumOfFigures(others.flatMap((one) => one[at] ?? []))) },
        ]),
  ]
}

/** The users with the most traces, and the usage of these with all descendants. */
const usersOfTraces = async (
  reader: ClickHouseReader,
  { projectId, position, began, prices }: OverviewQuery,
  field: (typeof USER_FIELDS)[number],
): Promise<Overview['users']> => {
  const roots = { projectId, position, filter: ROOTS, began }
  const has = { $not: [{ $eq: [{ $getField: field }, { $literal: null }] as const }] as const }
  const { groups } = await callGroups(reader, { ...roots, operation: has }, [field], [], ROWS)
  if (groups.length === 0) return []
  const named = groups.map(({ key: [user] }) => ({ $literal: user ?? '' }))
  const operation = { $in: [{ $getField: field }, named] as const }
  const asked = { ...roots, operation, prices, kind: 'inclusive' } as const
  const groupBy = [{ name: field === 'wb_user_id' ? 'user' : field }] as const
  const usage = await readTotals(reader, asked, (open) =>
    usageBy(reader, { ...asked, open, groupBy, orderBy: [], limit: MAX_GROUPS, isCompared: false }),
  )
  const byUser = new Map(usage.map(({ key, figures }) => [key?.[0] as string, figures]))
  return groups.map(({ key: [user], calls, failed }) => ({
    user: user ?? '',
    traces: calls,
    errors: failed,
    usage: byUser.get(user ?? ''),
  }))
}
