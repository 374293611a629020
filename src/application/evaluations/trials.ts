import type { RowOrder, RowSelection } from '../../domain/evaluations/grouped-rows.js'
import { newRunScores } from '../../domain/evaluations/run-scores.js'
import { predictionOf, rowOfCalls } from '../../domain/evaluations/rows-of-calls.js'
import type { EvaluationRow } from '../../domain/evaluations/row.js'
import { parseRef } from '../../domain/refs/ref.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { preview } from '../calls/preview.js'
import { resolveRefs, type Sources } from '../refs/resolve.js'
import { noSuchRun } from './logged-runs.js'
import { type CostOf, rowCallsById, rowsOf } from './read-rows.js'
import { groupsOf, runsAt } from './results.js'

/** Names under which datasets have the expected output, the most usual first. */
const EXPECTED = [
  'expected',
  'expected_output',
  'target',
  'label',
  'answer',
  'ground_truth',
  'reference',
  'ideal',
]

interface TrialsRead {
  readonly reader: ClickHouseReader
  readonly projectId: string
  readonly position: Position
  readonly sha256: Sha256
  readonly sources: Sources
  readonly costOf: CostOf
}

/** Trials as people read them, in the order of the ids; missing ones are omitted. */
export const trialsOf = async (
  { reader, projectId, position, sha256, sources, costOf }: TrialsRead,
  ids: readonly string[],
) => {
  const found = await rowCallsById(reader)(projectId, ids, position)
  const rows = found.map((calls) => ({ row: rowOfCalls(sha256)(calls), cost: costOf(predictionOf(calls)) }))
  const examples = await resolvedExamples(
    sources,
    rows.map(({ row }) => row.example),
  )
  return rows.map(({ row, cost }, at) => ({ row, cost, ...splitExample(examples[at]!) }))
}

type Trial = Awaited<ReturnType<typeof trialsOf>>[number]

/** A trial with whole payloads. Numbers keep all their digits. */
export const trialText = ({ row, cost, input, expected }: Trial): string =>
  `{"input":${jsonText(input)},"expected":${expected === undefined ? 'null' : jsonText(expected)},` +
  `"output":${jsonText(row.output)},${jsonText(headOf(row, cost)).slice(1)}`

const LINE_CHARACTERS = 200

/** A trial with a line of each payload. */
export const trialLine = ({ row, cost, input, expected }: Trial): string =>
  jsonText({
    input: preview(jsonText(input), 'input', LINE_CHARACTERS),
    expected: expected === undefined ? null : preview(jsonText(expected), 'output', LINE_CHARACTERS),
    output: preview(jsonText(row.output), 'output', LINE_CHARACTERS),
    ...headOf(row, cost),
  })

const headOf = (row: EvaluationRow, cost: number | null): JsonObject => ({
  id: row.id,
  row_digest: row.exampleDigest,
  scores: row.scores,
  score_call_ids: row.scoreIds,
  exception: row.exception,
  is_finished: row.endedAt !== null,
  latency: row.modelLatency,
  tokens: row.totalTokens,
  cost,
})

const resolvedExamples = async (sources: Sources, examples: readonly Json[]): Promise<readonly Json[]> => {
  const refs = examples.map((example) => (typeof example === 'string' ? parseRef(example) : undefined))
  if (refs.every((ref) => ref === undefined)) return examples
  const texts = await resolveRefs(sources, refs)
  return examples.map((example, at) =>
    refs[at] === undefined ? example : (parseJson(texts[at]!) ?? example),
  )
}

const splitExample = (example: Json): { readonly input: Json; readonly expected?: Json } => {
  if (!isJsonObject(example)) return { input: example }
  const name = EXPECTED.find((known) => Object.hasOwn(example, known))
  if (name === undefined) return { input: example }
  const { [name]: expected, ...input } = example
  return { input, expected: expected! }
}

/** The scores of all rows of a run. */
export const scoresOfRun = async (
  { reader, projectId, position, sha256 }: Pick<TrialsRead, 'reader' | 'projectId' | 'position' | 'sha256'>,
  runId: string,
) => {
  const [run] = await runsAt(reader, projectId, [runId], position)
  if (run === undefined) throw noSuchRun()
  const scores = newRunScores()
  let failed = 0
  const pause = yielding()
  for await (const page of rowsOf(reader, sha256)(projectId, runId, position))
    for (const row of page) {
      scores.add(row.scores)
      if (row.exception !== null) failed += 1
      await pause()
    }
  return { failed, ...scores.result() }
}

/** The calls of the rows of a run that are selected, by example. */
export const rowsOfRun = async (
  read: Pick<TrialsRead, 'reader' | 'projectId' | 'position' | 'sha256'>,
  runId: string,
  orders: readonly RowOrder[],
  selection: RowSelection,
): Promise<readonly (readonly string[])[]> => {
  const runIds = [runId]
  const runs = await runsAt(read.reader, read.projectId, runIds, read.position)
  if (runs.length === 0) throw noSuchRun()
  const groups = await groupsOf({ ...read, runIds }, runs, orders, selection)
  return groups.result(false, true).map(({ rows }) => rows[0]!)
}
