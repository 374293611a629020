import type { EvaluationRow } from '../../domain/evaluations/row.js'
import {
  type RowCalls,
  rowOfCalls,
  type ScoreFeedback,
  scoreFeedbackOf,
} from '../../domain/evaluations/rows-of-calls.js'
import { type EvaluationCall, roleOf } from '../../domain/evaluations/run-calls.js'
import { callRef } from '../../domain/refs/ref.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import type { PayloadColumn } from '../../projections/calls/columns.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { callsById } from '../../projections/calls/read.js'
import { feedbackOn } from '../../projections/feedback/queries.js'
import { cachedBooks } from '../../projections/prices/cached-books.js'
import { callCosts, totalCostOf } from '../calls/call-costs.js'
import type { Reading } from '../reading/reading.js'
import { callPages, parsedCall } from './parsed-call.js'

const OF_ROWS = ['attributes', 'inputs', 'output', 'summary'] as const satisfies readonly PayloadColumn[]

/**
 * Each page of random ids makes ClickHouse read the calls of the whole project, so pages are larger than those of the
 * call endpoints.
 */
const PAGE = { items: 2000, weight: 8 * 1024 * 1024 }

/** The rows of a run at a position, in the order of their start, a page at a time. */
export const rowsOf = (reader: ClickHouseReader, sha256: Sha256) => {
  const rowOf = rowOfCalls(sha256)
  return async function* (
    projectId: string,
    runId: string,
    position: Position,
  ): AsyncGenerator<readonly EvaluationRow[]> {
    for await (const page of rowCallsOf(reader)(projectId, runId, position)) yield page.map(rowOf)
  }
}

/** The same with the calls that the rows are made of. */
export const rowCallsOf = (reader: ClickHouseReader) =>
  async function* (
    projectId: string,
    runId: string,
    position: Position,
  ): AsyncGenerator<readonly RowCalls[]> {
    for await (const rows of callsBelow(reader, projectId, [runId], position, OF_ROWS)) {
      const page = await withChildren(reader, projectId, rows.filter(isRow), position)
      if (page.length > 0) yield page
    }
  }

/** Rows by the ids of their calls, in the order of the ids. */
export const rowCallsById =
  (reader: ClickHouseReader) =>
  async (projectId: string, ids: readonly string[], position: Position): Promise<readonly RowCalls[]> => {
    if (ids.length === 0) return []
    const calls = await callsById(reader)(projectId, ids, position, OF_ROWS)
    return withChildren(reader, projectId, calls.map(parsedCall), position)
  }

/** The rows of a run without their outputs and children: who reads this finds the examples. */
export const bareRowsOf = (reader: ClickHouseReader) =>
  async function* (
    projectId: string,
    runId: string,
    position: Position,
  ): AsyncGenerator<readonly EvaluationCall[]> {
    for await (const rows of callsBelow(reader, projectId, [runId], position, ['attributes', 'inputs']))
      yield rows.filter(isRow)
  }

const isRow = (call: EvaluationCall): boolean => ['row', 'prediction'].includes(roleOf(call))

const withChildren = async (
  reader: ClickHouseReader,
  projectId: string,
  rows: readonly EvaluationCall[],
  position: Position,
): Promise<readonly RowCalls[]> => {
  const children = await childrenOf(reader, projectId, rows, position)
  const feedback = await scoreFeedbackOn(reader, projectId, [...rows, ...children], position)
  const byParent = new Map<string, EvaluationCall[]>()
  for (const child of children) {
    const siblings = byParent.get(child.parent_id!)
    if (siblings === undefined) byParent.set(child.parent_id!, [child])
    else siblings.push(child)
  }
  return rows.map((row): RowCalls => {
    const below = byParent.get(row.id) ?? []
    return { row, children: below, feedback: [row, ...below].flatMap(({ id }) => feedback.get(id) ?? []) }
  })
}

const childrenOf = async (
  reader: ClickHouseReader,
  projectId: string,
  rows: readonly EvaluationCall[],
  position: Position,
): Promise<readonly EvaluationCall[]> => {
  if (rows.length === 0) return []
  const children: EvaluationCall[] = []
  const parents = rows.map(({ id }) => id)
  const byId = new Map(rows.map((row) => [row.id, row]))
  for await (const page of callsBelow(reader, projectId, parents, position, OF_ROWS))
    for (const child of page)
      children.push(roleOf(child, byId.get(child.parent_id!)) === 'score' ? withoutInputs(child) : child)
  return children
}

/** Scorers are given the example and the output again: of their inputs only the names are needed. */
const withoutInputs = (call: EvaluationCall): EvaluationCall => ({
  ...call,
  inputs: Object.fromEntries(
    Object.entries(call.inputs).map(([name, value]) => [name, name === 'self' ? value : null]),
  ),
})

const callsBelow = (
  reader: ClickHouseReader,
  projectId: string,
  parent_ids: readonly string[],
  position: Position,
  payload: readonly PayloadColumn[],
) => callPages(reader, { projectId, filter: { ...NO_FILTER, parent_ids }, position }, payload, PAGE)

/** By the id of the call that it is on. */
const scoreFeedbackOn = async (
  reader: ClickHouseReader,
  projectId: string,
  calls: readonly EvaluationCall[],
  position: Position,
): Promise<ReadonlyMap<string, readonly ScoreFeedback[]>> => {
  const refs = new Map(calls.map(({ id }) => [callRef(projectId, id), id]))
  const found = await feedbackOn(reader)(projectId, [...refs.keys()], position)
  return new Map(
    [...found].map(([ref, all]) => [
      refs.get(ref)!,
      all.map(scoreFeedbackOf).filter((one) => one !== undefined),
    ]),
  )
}

/** The cost of a prediction in US dollars; null where it has no usage, or none whose cost is known. */
export type CostOf = (prediction: EvaluationCall | undefined) => number | null

/** Costs by the prices of a project at a position. Equal versions give equal costs; undefined where prices changed since. */
export const rowCostsFrom = ({ generation }: Pick<Reading, 'generation'>) => {
  const books = cachedBooks(generation)
  return async (reader: ClickHouseReader, projectId: string, position: Position) => {
    const book = await books(reader, { projectId, list: null, position })
    const costOf: CostOf = (prediction) => {
      if (prediction === undefined) return null
      const { started_at, output, summary } = prediction
      return totalCostOf(callCosts(book, { project_id: projectId, started_at }, summary, { output }))
    }
    return { costOf, version: book.version }
  }
}
