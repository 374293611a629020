import { nameIn, RUN_OP, textOf } from '../../domain/evaluations/run-calls.js'
import { summaryMeans } from '../../domain/evaluations/summary-means.js'
import type { Operation } from '../../domain/query/expression.js'
import { parseRef } from '../../domain/refs/ref.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { evaluationRowCounts } from '../../projections/calls/evaluation-rows.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { listRows, type ListRow } from '../../projections/calls/list-rows.js'
import { callIds } from '../../projections/calls/pages.js'
import { objectValues } from '../../projections/objects/queries.js'
import { TraceTooLarge } from '../../projections/usage/trace.js'
import type { usageFrom } from '../../projections/usage/queries.js'
import { usageSums } from '../calls/usage-sums.js'
import { refuseTooLarge } from '../calls/too-large.js'

interface RunListQuery {
  readonly projectId: string
  readonly position: Position
  /** In the name of the run, or the references to its evaluation or model. Ignores case. */
  readonly contains: string
  readonly evaluation: string | null
  readonly ids: readonly string[] | null
  readonly limit: number
  readonly offset: number
}

interface UsageReads {
  readonly usage: ReturnType<typeof usageFrom>
  readonly maxTraceCalls: number
}

const MAX_MEANS = 30
const NEWEST = [{ field: 'started_at', direction: 'desc' }] as const

/** Evaluation runs as people read them, newest first, with one more than the limit counted in `has_more`. */
export const runList = async (reader: ClickHouseReader, usageReads: UsageReads, query: RunListQuery) => {
  const { projectId, position, limit, offset } = query
  const filter = { ...NO_FILTER, op_names: [RUN_OP], call_ids: query.ids }
  const selected = { projectId, position, filter, operation: conditionOf(query) }
  const keys = await callIds(reader)({ ...selected, sortBy: NEWEST, limit: limit + 1, offset })
  const rows = await listRows(reader, projectId, keys.slice(0, limit), position)
  const ids = rows.map(({ id }) => id)
  const runs = rows.map((row) => ({ row, inputs: objectIn(row.inputs) }))
  const evaluations = runs.map(({ inputs }) => textOf(inputs['self']) ?? '')
  const [counts, usages, datasets] = await Promise.all([
    evaluationRowCounts(reader, projectId, ids, position),
    usagesOf(reader, usageReads, query, ids),
    datasetsOf(reader, projectId, evaluations, position),
  ])
  return {
    rows: runs.map(({ row, inputs }, at) => {
      const evaluation = evaluations[at]!
      const used = usages?.get(row.id)
      return {
        ...headOf(row),
        evaluation,
        model: textOf(inputs['model']) ?? '',
        evaluation_name: nameIn(evaluation) ?? evaluation,
        model_name: nameIn(inputs['model']) ?? textOf(inputs['model']) ?? '',
        dataset: datasets.get(evaluation) ?? null,
        dataset_name: nameIn(datasets.get(evaluation)) ?? null,
        rows: counts.get(row.id) ?? 0,
        tokens: usages === undefined ? null : (used?.tokens ?? 0),
        cost: usages === undefined ? null : (used?.cost ?? 0),
        unpriced: used?.unpriced ?? false,
        ...scoresOf(row),
      }
    }),
    has_more: keys.length > limit,
  }
}

const headOf = ({ id, trace_id, display_name, started_us, ended_us, status, exception }: ListRow) => ({
  id,
  trace_id,
  display_name,
  started_us,
  duration_us: ended_us === null ? null : ended_us - started_us,
  status:
    ended_us === null
      ? ('running' as const)
      : status === 'error'
        ? ('failed' as const)
        : ('completed' as const),
  exception,
})

/** The means of the summary that the run ended with. A summary that is cut off in a list row has none. */
const scoresOf = ({ output }: ListRow) => {
  const summary = output === '' ? {} : objectIn(output)
  const { means, latency } = summaryMeans(summary)
  return {
    latency,
    means: means.slice(0, MAX_MEANS).map((mean) => ({ ...mean })),
    left_out_count: Math.max(0, means.length - MAX_MEANS),
  }
}

const conditionOf = ({ contains, evaluation }: RunListQuery): Operation | null => {
  const contained = ['display_name', 'inputs.self', 'inputs.model', 'id'].map((field): Operation => ({
    $contains: { input: { $getField: field }, substr: { $literal: contains }, case_insensitive: true },
  }))
  const conditions: Operation[] = [
    ...(contains === '' ? [] : [{ $or: contained }]),
    ...(evaluation === null
      ? []
      : [{ $eq: [{ $getField: 'inputs.self' }, { $literal: evaluation }] } as const]),
  ]
  return conditions.length === 0 ? null : { $and: conditions }
}

/** With all descendants, by run; undefined where a trace is too large to be added up. */
const usagesOf = async (
  reader: ClickHouseReader,
  { usage, maxTraceCalls }: UsageReads,
  { projectId, position }: RunListQuery,
  ids: readonly string[],
) => {
  const selected = { projectId, position, maxTraceCalls, limit: ids.length, operation: null }
  try {
    const answer = await usage(reader, {
      ...selected,
      filter: { ...NO_FILTER, call_ids: ids },
      costs: { list: null },
    })
    return new Map(answer.calls.map((call) => [call.id, usageSums(call)]))
  } catch (error) {
    if (error instanceof TraceTooLarge) return undefined
    return refuseTooLarge(error)
  }
}

/** The references to the datasets of evaluations in this project, by the reference to the evaluation. */
const datasetsOf = async (
  reader: ClickHouseReader,
  projectId: string,
  evaluations: readonly string[],
  position: Position,
): Promise<ReadonlyMap<string, string>> => {
  const wanted = [...new Set(evaluations)].flatMap((text) => {
    const ref = parseRef(text)
    const isHere = ref?.kind === 'object' && ref.projectId === projectId && ref.edges.length === 0
    return isHere ? [{ text, objectId: ref.objectId, digest: ref.version }] : []
  })
  if (wanted.length === 0) return new Map()
  const values = await objectValues(reader)(projectId, wanted, position)
  return new Map(
    wanted.flatMap(({ text }, at) => {
      const dataset = textOf(objectIn(values[at] ?? '')['dataset'])
      return dataset === null ? [] : [[text, dataset] as const]
    }),
  )
}

const objectIn = (text: string): JsonObject => {
  let value: Json
  try {
    value = parseJson(text)
  } catch {
    return {}
  }
  return isJsonObject(value) ? value : {}
}
