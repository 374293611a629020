import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { yielding } from '../../../kernel/yield-to-event-loop.js'
import type { CallSelection } from '../../calls/select.js'
import { dateTime64 } from '../../clickhouse-values.js'
import { allOf, listed, ofProject, raw, select, sql, type Sql } from '../../sql.js'
import { bookOfModels, type PriceBook } from '../../prices/book.js'
import { chargesOf, type Charge } from '../charges.js'
import { batchesOf, loadTraces, traceSizes, usageReportingAt } from '../facts.js'
import {
  AnswerTooLarge,
  EntryBudget,
  inclusiveUsage,
  livingForest,
  type UsageByKey,
} from '../inclusive-usage.js'
import { COUNTERS } from '../columns.js'
import { ownUsage, saturated, type OwnUsage } from '../own-usage.js'
import { changedTraces, partialTraces, readAtState, type Changed } from '../totals-state.js'
import { labelReader } from '../totals.js'
import { YEAR_2100, type TraceCalls } from '../trace.js'
import { ALWAYS } from './price-steps.js'
import { OpenRows, startedWithin, type OpenTraces, type UsageKind, type UsageRow } from './usage-rows.js'

type Reader = Pick<ClickHouseReader, 'query' | 'stream'>

export interface UsageReading extends CallSelection {
  readonly kind: UsageKind
  /** Of the costs; null without costs. */
  readonly prices: PriceBook | null
}

const MAX_ATTEMPTS = 4

/** The totals are behind by more than one answer can sum up, or changed each time they were read. */
export class TotalsNotReady extends Error {
  override readonly name = 'TotalsNotReady'
}

/**
 * Reads rows of `usage_totals` as of a position. Traces whose rows are of another position are given to `read` as open
 * traces. It is repeated if the rows changed meanwhile.
 *
 * @throws AnswerTooLarge, TotalsNotReady
 */
export const readTotals = async <A>(
  reader: Reader,
  reading: UsageReading,
  read: (open: OpenTraces) => Promise<A>,
): Promise<A> => {
  const { position } = reading
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const result = await readAtState(reader, position, async (changed, { complete }) => {
      const stored = storedPrices(reader, reading)
      const [traceIds, prices] = await Promise.all([openTraces(reader, reading, stored, changed), stored])
      const computed = traceIds ?? (await tracesInRange(reader, reading))
      const open = await usageOfTraces(reader, reading, computed).catch((error: unknown) => {
        const isBehind = position >= complete && error instanceof AnswerTooLarge
        throw isBehind ? new TotalsNotReady('the totals of usage are behind', { cause: error }) : error
      })
      const all = { ...open, prices: pricesOfAll(reading.prices, prices, open.models) }
      return read(traceIds === null ? { ...all, isAll: true } : all)
    })
    if (result !== undefined) return result.answer
  }
  throw new TotalsNotReady('the totals of usage changed while they were read')
}

const MAX_MODELS = 100_000

/** The prices of the models of the stored rows in the range, by the names of the models. */
const storedPrices = async (reader: Reader, reading: UsageReading): Promise<PriceBook | null> => {
  if (reading.prices === null) return null
  const rows = await select<{ model: string }>(
    reader,
    sql`SELECT DISTINCT CAST(model, 'String') AS model FROM usage_totals WHERE ${rangeOf(reading)} LIMIT ${raw(String(MAX_MODELS + 1))}`,
  )
  if (rows.length > MAX_MODELS) throw new AnswerTooLarge(`costs of more than ${MAX_MODELS} models`)
  return bookOfModels(
    reading.prices,
    rows.map(({ model }) => model),
  )
}

/** The prices of the models of stored and computed rows. */
const pricesOfAll = (
  book: PriceBook | null,
  stored: PriceBook | null,
  computed: ReadonlySet<string>,
): PriceBook | null =>
  book === null || stored === null
    ? null
    : { ...book, timelines: new Map([...stored.timelines, ...bookOfModels(book, computed).timelines]) }

/** The traces to compute instead of reading their stored rows; null for all. */
const openTraces = async (
  reader: Reader,
  reading: UsageReading,
  prices: Promise<PriceBook | null>,
  changed: Changed,
): Promise<readonly string[] | null> => {
  const [traceIds, repriced, partial] = await Promise.all([
    changedTraces(reader, reading.projectId, changed, rangeOf(reading)),
    reading.kind === 'own' ? [] : prices.then((book) => repricedTraces(reader, reading, book)),
    neededButPartial(reader, reading),
  ])
  if (traceIds === null) return null
  const open = new Set([...traceIds, ...repriced])
  await refuseTraces(
    reader,
    reading,
    partial.filter((traceId) => !open.has(traceId)),
  )
  return [...open]
}

/** The condition of the range and the traces that a reading selects. */
const rangeOf = (reading: UsageReading): Sql => {
  const traces = reading.filter?.trace_ids ?? []
  return allOf([
    ofProject(reading.projectId, reading.position),
    ...startedWithin(reading),
    ...(traces.length === 0 ? [] : [sql`trace_id IN ${listed(traces)}`]),
  ])
}

/** The traces that are too large for the totals that are needed. Roots have inclusive usage in any case. */
const neededButPartial = (reader: Reader, { projectId, kind, filter }: UsageReading) =>
  partialTraces(
    reader,
    projectId,
    kind === 'inclusive' && filter?.trace_roots_only !== true ? 'inclusive' : 'any',
  )

/** Refuses to read calls of traces. */
const refuseTraces = async (reader: Reader, reading: UsageReading, traceIds: readonly string[]) => {
  if (traceIds.length === 0) return
  const found = await select(
    reader,
    sql`SELECT 1 AS one FROM usage_facts WHERE ${rangeOf(reading)} AND trace_id IN ${listed(traceIds)}
    AND started_position BETWEEN 1 AND ${reading.position} LIMIT 1`,
  )
  if (found.length > 0) throw new AnswerTooLarge('a trace is too large for totals of its calls')
}

/** All traces with calls that started in the range. */
const tracesInRange = async (reader: Reader, reading: UsageReading): Promise<readonly string[]> => {
  const rows = await select<{ trace_id: string }>(
    reader,
    sql`SELECT DISTINCT trace_id FROM usage_facts WHERE ${rangeOf(reading)} LIMIT ${raw(String(MAX_OPEN_FACTS + 1))}`,
  )
  return rows.map(({ trace_id }) => trace_id)
}

/** The traces in which a price changed between calls whose usage one row sums up. */
const repricedTraces = async (
  reader: Reader,
  reading: UsageReading,
  prices: PriceBook | null,
): Promise<readonly string[]> => {
  if (prices === null) return []
  const steps = [...prices.timelines].flatMap(([model, timeline]) =>
    timeline.steps.map(({ from }) => ({ model, from: dateTime64(from) })),
  )
  if (steps.length === 0) return []
  const models = steps.map(({ model }) => model)
  const rows = await select<{ trace_id: string }>(
    reader,
    sql`SELECT DISTINCT trace_id FROM usage_totals WHERE ${rangeOf(reading)}
    AND first_started_at < last_started_at AND model IN ${models}
    AND arrayExists((priced, at) -> priced = model AND first_started_at < at AND at <= last_started_at,
      ${models}, arrayMap(at -> toDateTime64(at, 6, 'UTC'), ${steps.map(({ from }) => from)}))`,
  )
  return rows.map(({ trace_id }) => trace_id)
}

/** The most facts that are summed for one answer. */
const MAX_OPEN_FACTS = 500_000
const FACTS_AT_ONCE = 50_000

interface ComputedTraces extends Pick<OpenTraces, 'traceIds' | 'rows'> {
  readonly models: ReadonlySet<string>
}

/** The usage of traces as of a position. */
const usageOfTraces = async (
  reader: Reader,
  { projectId, position, kind, prices }: UsageReading,
  traceIds: readonly string[],
): Promise<ComputedTraces> => {
  const models = new Set<string>()
  if (traceIds.length === 0) return { traceIds, rows: [], models }
  const [sizes, reporting] = await Promise.all([
    traceSizes(reader, projectId, traceIds, MAX_OPEN_FACTS),
    usageReportingAt(reader, projectId, position),
  ])
  const budget = new EntryBudget()
  const rows = new OpenRows()
  const pause = yielding()
  for (const batch of batchesOf(sizes, FACTS_AT_ONCE)) {
    const calls = await loadTraces(reader, projectId, batch, position, { withLabels: true })
    const own = await ownUsage(calls, reporting)
    for (const model of own.models) models.add(model)
    const selected = Int32Array.from(calls.ids.keys()).filter((call) => calls.isDeleted[call] === 0)
    const callOf = callReader(calls)
    if (kind === 'own') {
      for (const call of selected) {
        for (const row of ownRows(callOf(call), own, call)) rows.add(row)
        await pause()
      }
      continue
    }
    const { charges, keyOf } = chargesOf({ started: calls.started, models: own.models }, prices)
    const { usage } = await inclusiveUsage({ calls, own, selected, keyOf, budget })
    for (const [n, call] of selected.entries()) {
      for (const row of inclusiveRows(callOf(call), usage[n]!, charges)) rows.add(row)
      await pause()
    }
  }
  return { traceIds, rows: rows.lists(), models }
}

type CallOfRow = Omit<UsageRow, 'priced_at' | 'model' | 'is_first' | 'is_first_of_model' | 'figures'>

/** Reads what all rows of a call have. */
const callReader = (calls: TraceCalls) => {
  const labelsOf = labelReader(calls, livingForest(calls))
  return (call: number): CallOfRow => ({
    started_at: BigInt(calls.started[call]!) + YEAR_2100,
    call_id: calls.ids[call]!,
    trace_id: calls.traceIds[calls.trace[call]!]!,
    is_root: calls.hasNoParent[call] === 1,
    ...labelsOf(call),
  })
}

function* ownRows(call: CallOfRow, own: OwnUsage, index: number): Generator<UsageRow> {
  const first = own.offsets[index]!
  for (let entry = first; entry < own.offsets[index + 1]!; entry += 1)
    yield {
      ...call,
      priced_at: call.started_at,
      model: own.models[own.model[entry]!]!,
      is_first: entry === first,
      is_first_of_model: true,
      figures: own.values.slice(entry * COUNTERS.length, (entry + 1) * COUNTERS.length).map(saturated),
    }
}

function* inclusiveRows(call: CallOfRow, usage: UsageByKey, charges: readonly Charge[]): Generator<UsageRow> {
  const seen = new Set<string>()
  for (const [key, counters] of usage) {
    const figures = counters.slice(0, COUNTERS.length)
    if (!figures.some(Boolean)) continue
    const { model, variant, from } = charges[key]!
    yield {
      ...call,
      priced_at: from === -Infinity ? ALWAYS : BigInt(from) + YEAR_2100,
      model: variant,
      is_first: seen.size === 0,
      is_first_of_model: !seen.has(model),
      figures: figures.map(saturated),
    }
    seen.add(model)
  }
}
