import { tableOfDataset, type EvaluationObject } from '../../domain/evaluations/evaluation-object.js'
import type { EvaluationRow } from '../../domain/evaluations/row.js'
import { rowOfCalls } from '../../domain/evaluations/rows-of-calls.js'
import { ROW_OP, type EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { Operation } from '../../domain/query/expression.js'
import { parseRef } from '../../domain/refs/ref.js'
import type { Json } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { mapInSteps } from '../../kernel/yield-to-event-loop.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { callIds } from '../../projections/calls/pages.js'
import { callsById } from '../../projections/calls/read.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { tableOrder } from '../../projections/tables/queries.js'
import { resolveRefs, type Sources } from '../refs/resolve.js'
import { parsedCall } from './parsed-call.js'
import { rowCallsOf } from './read-rows.js'
import { RunFailed } from './services.js'
import { positionNow, readObjectAs, sourcesOf, type ReadServices, type RunUser } from './user-reads.js'

/** A row of a run that the service works on. */
export interface RowToScore {
  /** The same in every attempt, and another for each row of the run. */
  readonly key: string
  /** Of the row's call. */
  readonly opName: string
  /** As recorded: the value, or a reference to a row of a dataset. */
  readonly example: Json
  /** With its reference resolved; null where it does not resolve. */
  readonly exampleValue: Json
}

/** A row of the run that is rescored, with its prediction. Its key is the id of its call. */
export interface SourceRow extends RowToScore {
  readonly row: EvaluationRow
  readonly prediction: EvaluationCall | null
}

/** The rows of a recorded run in a stable order with their predictions, a page at a time. */
export async function* sourceRows(
  services: ReadServices & Pick<Ports, 'sha256'>,
  projectId: string,
  runId: string,
  user: RunUser,
): AsyncGenerator<readonly SourceRow[]> {
  const { reader } = services.clickHouse
  const rowOf = rowOfCalls(services.sha256)
  const position = await positionNow(services)
  for await (const page of rowCallsOf(reader)(projectId, runId, position)) {
    const rows = await mapInSteps(page, (calls) => ({ row: rowOf(calls), opName: calls.row.op_name }))
    const examples = await exampleValues(
      sourcesOf(services, user),
      rows.map(({ row }) => row.example),
    )
    const ids = rows.flatMap(({ row }) => row.predictionId ?? [])
    const predictions = await predictionsOf(reader, projectId, ids, position)
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
  services: ReadServices,
  { dataset, trials }: EvaluationObject,
  user: RunUser,
): AsyncGenerator<readonly RowToScore[]> {
  const value = await readObjectAs(services, user)(dataset)
  const table = tableOfDataset(dataset, value ?? null)
  if (table === undefined) throw new RunFailed('the dataset of the Evaluation object cannot be read')
  const page = (offset: number) =>
    tableOrder(services.clickHouse.reader)({
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
      const values = await exampleValues(sourcesOf(services, user), refs)
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
  reader: ClickHouseReader,
  projectId: string,
  ids: readonly string[],
  position: Position,
): Promise<ReadonlyMap<string, EvaluationCall>> => {
  if (ids.length === 0) return new Map()
  const calls = await callsById(reader)(projectId, ids, position)
  return new Map(await mapInSteps(calls, (call) => [call.id, parsedCall(call)] as const))
}

/** Resolves references to dataset rows, and returns other values unchanged. */
const exampleValues = async (sources: Sources, examples: readonly Json[]): Promise<readonly Json[]> => {
  const refs = examples.map((example) => (typeof example === 'string' ? parseRef(example) : undefined))
  const resolved = await resolveRefs(sources, refs)
  return examples.map((example, index) => (refs[index] === undefined ? example : parseJson(resolved[index]!)))
}

/** The calls that the service wrote for a run and that have not ended, without completions, which the gateway ends. */
export const openCalls = async (
  services: Pick<ReadServices, 'eventStore' | 'clickHouse' | 'readModels'>,
  projectId: string,
  runId: string,
): Promise<readonly string[]> => {
  const equal = (field: string, value: Json): Operation => ({
    $eq: [{ $getField: field }, { $literal: value }],
  })
  const found = await callIds(services.clickHouse.reader)({
    projectId,
    filter: { ...NO_FILTER, trace_ids: [runId] },
    operation: { $and: [equal('ended_at', null), equal('attributes.tallytree.evaluation_run_id', runId)] },
    position: await positionNow(services),
    sortBy: [],
    limit: null,
    offset: null,
  })
  return found.map(({ id }) => id)
}
