import { parsedCall } from './parsed-call.js'
import { rowCallsOf } from './read-rows.js'
import { resolveRefs } from '../refs/resolve.js'
import type { sourcesFrom } from '../refs/sources.js'
import {
  RunFailed,
  type EvaluationPorts,
  type RowToScore,
  type SourceRow,
} from '../../dispatch/evaluations/ports.js'
import { tableOfDataset, type EvaluationObject } from '../../domain/evaluations/evaluation-object.js'
import { rowOfCalls } from '../../domain/evaluations/rows-of-calls.js'
import { ROW_OP, type EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { Json } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Operation } from '../../domain/query/expression.js'
import { parseRef } from '../../domain/refs/ref.js'
import { callIds, callsById, NO_FILTER } from '../../projections/calls/queries.js'
import { tableOrder } from '../../projections/tables/queries.js'
import type { Stores } from '../../composition/stores.js'

type RowPorts = Pick<Stores, 'clickHouse'> & Pick<EvaluationPorts, 'sha256'>

/** The rows of a recorded run with their predictions, a page at a time. */
export async function* sourceRows(
  ports: RowPorts,
  projectId: string,
  runId: string,
  positionNow: () => Promise<Position>,
  sources: () => ReturnType<typeof sourcesFrom>,
): AsyncGenerator<readonly SourceRow[]> {
  const { reader } = ports.clickHouse
  const rowOf = rowOfCalls(ports.sha256)
  const position = await positionNow()
  for await (const page of rowCallsOf(reader)(projectId, runId, position)) {
    const rows = page.map((calls) => ({ row: rowOf(calls), opName: calls.row.op_name }))
    const examples = await exampleValues(
      sources(),
      rows.map(({ row }) => row.example),
    )
    const predictions = await predictionsOf(
      ports,
      projectId,
      rows.flatMap(({ row }) => row.predictionId ?? []),
      position,
    )
    yield rows.map(({ row, opName }, index): SourceRow => {
      const { id: key, example, predictionId } = row
      const prediction = predictions.get(predictionId ?? '') ?? null
      return { key, row, opName, example, exampleValue: examples[index]!, prediction }
    })
  }
}

/**
 * The rows of the dataset of an Evaluation object, a page at a time; all of them again for each trial.
 *
 * @throws RunFailed where the dataset cannot be read
 */
export async function* datasetRows(
  { clickHouse: { reader } }: Pick<RowPorts, 'clickHouse'>,
  { dataset, trials }: EvaluationObject,
  positionNow: () => Promise<Position>,
  sources: () => ReturnType<typeof sourcesFrom>,
): AsyncGenerator<readonly RowToScore[]> {
  await positionNow()
  const [text] = await resolveRefs(sources(), [parseRef(dataset)])
  const table = tableOfDataset(dataset, parseJson(text ?? 'null'))
  if (table === undefined) throw new RunFailed('the dataset of the Evaluation object cannot be read')
  const page = (offset: number) =>
    tableOrder(reader)({
      projectId: table.projectId,
      tableDigest: table.digest,
      rowDigests: null,
      sortBy: [],
      limit: DATASET_PAGE,
      offset,
    })
  for (let trial = 0; trial < trials; trial += 1)
    for (let offset = 0; ; offset += DATASET_PAGE) {
      const order = await page(offset)
      const refs = order.map(({ digest }) => `${dataset}/attr/rows/id/${digest}`)
      const values = await exampleValues(sources(), refs)
      yield refs.map((example, index) => ({
        key: `${trial}/${offset + index}`,
        opName: ROW_OP,
        example,
        exampleValue: values[index]!,
      }))
      if (order.length < DATASET_PAGE) break
    }
}

const DATASET_PAGE = 100

const predictionsOf = async (
  { clickHouse }: Pick<RowPorts, 'clickHouse'>,
  projectId: string,
  ids: readonly string[],
  position: Position,
): Promise<ReadonlyMap<string, EvaluationCall>> => {
  if (ids.length === 0) return new Map()
  const calls = await callsById(clickHouse.reader)(projectId, ids, position)
  return new Map(calls.map((call) => [call.id, parsedCall(call)]))
}

/** Resolves references to dataset rows, and returns other values unchanged. */
const exampleValues = async (
  sources: ReturnType<typeof sourcesFrom>,
  examples: readonly Json[],
): Promise<readonly Json[]> => {
  const refs = examples.map((example) => (typeof example === 'string' ? parseRef(example) : undefined))
  const resolved = await resolveRefs(sources, refs)
  return examples.map((example, index) => (refs[index] === undefined ? example : parseJson(resolved[index]!)))
}

/** Not the completions, which the gateway ends itself. */
export const openCalls = async (
  reader: ClickHouseReader,
  projectId: string,
  runId: string,
  position: Position,
): Promise<readonly string[]> => {
  const filter = { ...NO_FILTER, trace_ids: [runId] }
  const equal = (field: string, value: Json): Operation => ({
    $eq: [{ $getField: field }, { $literal: value }],
  })
  const operation: Operation = {
    $and: [equal('ended_at', null), equal('attributes.tallytree.evaluation_run_id', runId)],
  }
  const question = { projectId, filter, operation, position, sortBy: [], limit: null, offset: null }
  return (await callIds(reader)(question)).map(({ id }) => id)
}
