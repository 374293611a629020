import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import { id as idCodec } from '../../kernel/ids.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { mapInSteps } from '../../kernel/yield-to-event-loop.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { callsByKey } from '../../projections/calls/read.js'
import { callIdPages, type CallPageQuery } from '../../projections/calls/pages.js'
import type { PayloadColumn, StoredCall } from '../../projections/calls/columns.js'
import { foldedCall } from '../calls/folded-call.js'
import { pagesOf } from '../calls/pages.js'

/** A call as the log has it now; undefined where there is none. */
export const callNow = async (
  ports: Pick<Ports, 'eventStore' | 'blobs'>,
  projectId: string,
  id: string,
): Promise<EvaluationCall | undefined> => {
  const call = idCodec.is(id) ? await foldedCall(ports)(projectId, id) : undefined
  return call && parsedCall(call)
}

const ALL = { filter: null, operation: null, limit: null, offset: null } as const
const BY_START = [{ field: 'started_at', direction: 'asc' }] as const

/** Calls in the order of their start, unless the query has another, a page at a time. */
export async function* callPages(
  reader: ClickHouseReader,
  query: Pick<CallPageQuery, 'projectId' | 'position'> & Partial<CallPageQuery>,
  payload?: readonly PayloadColumn[],
  pageSize?: Parameters<typeof pagesOf>[1],
): AsyncGenerator<readonly EvaluationCall[]> {
  const { projectId, position } = query
  for await (const page of pagesOf(callIdPages(reader, { ...ALL, sortBy: BY_START, ...query }), pageSize)) {
    yield await mapInSteps(await callsByKey(reader)(projectId, page, position, payload), parsedCall)
  }
}

/** A stored call with its payload parsed. */
export const parsedCall = (call: StoredCall): EvaluationCall => ({
  id: call.id,
  parent_id: call.parent_id,
  trace_id: call.trace_id,
  op_name: call.op_name,
  display_name: call.display_name,
  started_at: call.started_at,
  ended_at: call.ended_at,
  exception: call.exception,
  wb_user_id: call.wb_user_id,
  attributes: objectIn(call.attributes),
  inputs: objectIn(call.inputs),
  output: call.output === null ? null : parseJson(call.output),
  summary: objectIn(call.summary),
})

const objectIn = (text: string | null): JsonObject => {
  const value = text === null ? null : parseJson(text)
  return isJsonObject(value) ? value : {}
}
