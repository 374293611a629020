import type { UsageReporting } from '../../domain/projects/project.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import {
  AnswerTooLarge,
  EntryBudget,
  inclusiveUsage,
  livingForest,
  type Forest,
  type UsageByKey,
} from './inclusive-usage.js'
import { modelOf } from '../../domain/prices/variant.js'
import { COUNTERS, LABELS, valuesOf, type Label } from './columns.js'
import { NAMED_COLUMNS, TOTALS_KEY } from './tables.js'
import { ownUsage, saturated, type OwnUsage } from './own-usage.js'
import { YEAR_2100, type ModelEntries, type TraceCalls } from './trace.js'

const WIDTH = COUNTERS.length

/** Of a trace without all usage. `own`: inclusive usage is only known for roots. `none`: it is too large to be summed. */
type Coverage = 'own' | 'none'

/** The usage of a model by a call: values of `USAGE_TOTALS`, without the position and whether the row is deleted. */
export type TotalsRow = readonly (string | number | boolean)[]

const totalsRow = (
  named: Readonly<Record<(typeof NAMED_COLUMNS)[number], string | boolean>>,
  [first, last]: readonly [first: string, last: string],
  labels: Readonly<Record<Label, string>>,
  own: readonly number[],
  inclusive: readonly number[],
): TotalsRow => {
  const row: (string | number | boolean)[] = []
  for (const column of NAMED_COLUMNS) row.push(named[column])
  for (const label of LABELS) row.push(labels[label])
  for (const counter of own) row.push(saturated(counter))
  for (let k = 0; k < WIDTH; k += 1) row.push(saturated(inclusive[k]!))
  row.push(first, last)
  return row
}

/** The most entries per call and model that are kept for a trace. */
const maxEntries = (calls: number): number => Math.min(20 * calls + 100_000, MAX_ENTRIES)
const MAX_ENTRIES = 2_000_000
/** Of several traces together. If there are more, they are summed one by one. */
const MAX_BATCH_ENTRIES = 400_000

/**
 * The totals of traces that were loaded with labels.
 *
 * @throws AnswerTooLarge if several traces are too much at once
 */
export async function* totalsOf(
  calls: TraceCalls,
  projectId: string,
  reporting: UsageReporting,
): AsyncGenerator<readonly TotalsRow[]> {
  const pause = yielding()
  const own = await ownUsage(calls, reporting)
  const forest = livingForest(calls)
  const labelsOf = labelReader(calls, forest)
  const usage = await usageOf(calls, own, forest)
  let rows: TotalsRow[] = []
  const partial = new Set<string>()
  for (const [call, callId] of calls.ids.entries()) {
    if (call % 64 === 0) await pause()
    if (calls.isDeleted[call] === 1) continue
    const { isCovered, inclusive } = usage(call)
    const labels = labelsOf(call)
    const startedAt = textOf(calls.started[call]!)
    const traceId = calls.traceIds[calls.trace[call]!]!
    if (!isCovered) partial.add(traceId)
    const sumsByModel = [...sumsOf(calls, own, call, inclusive)]
    const ownRow = usageOfRows()
    const inclusiveRow = usageOfRows()
    for (const [model, ownSums, sums] of sumsByModel)
      rows.push(
        totalsRow(
          {
            project_id: projectId,
            started_at: startedAt,
            call_id: callId,
            model,
            trace_id: traceId,
            is_root: calls.hasNoParent[call] === 1,
            own_usage: ownRow(model, ownSums),
            usage: inclusiveRow(model, sums.slice(0, WIDTH)),
            coverage: '',
          },
          [textOf(sums[WIDTH]!), textOf(sums[WIDTH + 1]!)],
          labels,
          ownSums,
          sums,
        ),
      )
    if (rows.length < ROWS_AT_ONCE) continue
    yield rows
    rows = []
  }
  rows.push(...[...partial].map((traceId) => coverageRow(projectId, traceId, 'own')))
  if (rows.length > 0) yield rows
}

const ROWS_AT_ONCE = 10_000
const NOTHING: readonly number[] = COUNTERS.map(() => 0)
const isUsed = (sums: readonly number[]): boolean => sums.some((sum) => sum !== 0)

/** Whether a row has usage, and is the first one of its call that has, or a further variant of a model of the call. */
type RowUsage = 'none' | 'first' | 'further' | 'variant'

/** Of the rows of a call, in order. */
const usageOfRows = () => {
  const seen = new Set<string>()
  return (key: string, sums: readonly number[]): RowUsage => {
    if (!isUsed(sums)) return 'none'
    const isFirst = seen.size === 0
    const isKnown = seen.has(modelOf(key))
    seen.add(modelOf(key))
    return isFirst ? 'first' : isKnown ? 'variant' : 'further'
  }
}

/** The own and inclusive usage of a call by model. A running call has an entry even without usage. */
function* sumsOf(
  { started, ended }: TraceCalls,
  own: OwnUsage,
  call: number,
  inclusive: UsageByKey | undefined,
): Generator<readonly [model: string, own: readonly number[], inclusive: readonly number[]]> {
  const { models } = own
  const ownByModel = new Map<number, readonly number[]>()
  for (let entry = own.offsets[call]!; entry < own.offsets[call + 1]!; entry += 1)
    ownByModel.set(own.model[entry]!, own.values.slice(entry * WIDTH, (entry + 1) * WIDTH))
  const zero = [...NOTHING, started[call]!, started[call]!]
  if (inclusive === undefined) for (const [model, sums] of ownByModel) yield [models[model]!, sums, zero]
  else for (const [model, sums] of inclusive) yield [models[model]!, ownByModel.get(model) ?? NOTHING, sums]
  if ((inclusive ?? ownByModel).size === 0 && Number.isNaN(ended[call]!)) yield ['', NOTHING, zero]
}

/** Before all calls, so that the rows of all such traces are found by their key. */
export const COVERAGE_TIME = '1900-01-01 00:00:00.000000'

/** The marker of a trace whose other rows lack usage. Its key is not that of a call: no call, and the trace as model. */
export const coverageRow = (projectId: string, traceId: string, coverage: Coverage): TotalsRow =>
  totalsRow(
    {
      project_id: projectId,
      started_at: COVERAGE_TIME,
      call_id: '',
      model: traceId,
      trace_id: traceId,
      is_root: false,
      own_usage: 'none',
      usage: 'none',
      coverage,
    },
    [COVERAGE_TIME, COVERAGE_TIME],
    valuesOf(LABELS, ''),
    NOTHING,
    NOTHING,
  )

/** What identifies a row. */
export const totalsKey = (row: TotalsRow): string => JSON.stringify(row.slice(0, TOTALS_KEY.length))

/** Reads the labels of a call's rows. */
export const labelReader = ({ labels }: TraceCalls, { node, parent, order }: Forest) => {
  const top = Int32Array.from(parent.keys())
  for (let n = order.length - 1; n >= 0; n -= 1)
    if (parent[order[n]!]! >= 0) top[order[n]!] = top[parent[order[n]!]!]!
  return (call: number): Readonly<Record<Label, string>> => ({
    ...labels[call]!,
    root_op: labels[top[node[call]!]!]!.op,
  })
}

/** The inclusive usage of all calls, or in a trace with too many entries of its roots. */
const usageOf = async (calls: TraceCalls, own: ModelEntries, { living }: Forest) => {
  const isLiving = (call: number) => calls.isDeleted[call] === 0
  const isRoot = (call: number) => living[call]! < 0
  const all = Int32Array.from(calls.ids.keys()).filter(isLiving)
  let selected = all
  const sum = (budget: EntryBudget) => inclusiveUsage({ calls, own, selected, budget })
  const isOneTrace = calls.trace.at(-1) === calls.trace[0]
  const most = isOneTrace ? maxEntries(all.length) : MAX_BATCH_ENTRIES
  const summed = await sum(new EntryBudget(most)).catch((error: unknown) => {
    if (!(error instanceof AnswerTooLarge) || !isOneTrace) throw error
    selected = all.filter(isRoot)
    return sum(new EntryBudget(Infinity))
  })
  const byCall = new Map<number, UsageByKey>()
  const sizes = new Map<number, { calls: number; entries: number }>()
  for (const [n, call] of selected.entries()) {
    byCall.set(call, summed.usage[n]!)
    const size = sizes.get(calls.trace[call]!) ?? { calls: 0, entries: 0 }
    sizes.set(calls.trace[call]!, { calls: size.calls + 1, entries: size.entries + summed.usage[n]!.size })
  }
  return (call: number): { readonly isCovered: boolean; readonly inclusive: UsageByKey | undefined } => {
    const size = sizes.get(calls.trace[call]!)
    const isCovered = selected === all && size !== undefined && size.entries <= maxEntries(size.calls)
    return { isCovered, inclusive: isCovered || isRoot(call) ? byCall.get(call) : undefined }
  }
}

const YEAR_2100_MS = Number(YEAR_2100 / 1000n)

/** A `DateTime64(6)` from microseconds since 2100. */
const textOf = (microseconds: number): string => {
  const milliseconds = Math.floor(microseconds / 1000)
  const text = new Date(YEAR_2100_MS + milliseconds).toISOString()
  const micros = String(microseconds - milliseconds * 1000).padStart(3, '0')
  return `${text.slice(0, 10)} ${text.slice(11, 23)}${micros}`
}
