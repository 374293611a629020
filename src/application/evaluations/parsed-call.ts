import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import { id as idCodec } from '../../kernel/ids.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { StoredCall } from '../../projections/calls/queries.js'
import { foldedCall } from '../calls/folded-call.js'

/** A call as the log has it now; undefined where there is none. */
export const callNow = async (
  ports: Pick<Ports, 'eventStore' | 'blobs'>,
  projectId: string,
  id: string,
): Promise<EvaluationCall | undefined> => {
  const call = idCodec.is(id) ? await foldedCall(ports)(projectId, id) : undefined
  return call && parsedCall(call)
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
