import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import { OP_WITHOUT_CODE, refOfOp } from '../../domain/evaluations/ops.js'
import type { Cause } from '../../kernel/event.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { endCall, startCall, type CallWrite } from '../../application/calls/record.js'
import { writeCalls, type WriteResults } from '../../application/calls/write-calls.js'
import { Failure } from '../../application/failure.js'
import { publishObject } from '../../application/objects/publish.js'
import type { RouteRequest } from '../server/route.js'
import type { Evaluations } from './evaluations.js'
import { callNow } from '../../application/evaluations/parsed-call.js'

export interface NewCall {
  readonly projectId: string
  readonly id: string
  readonly traceId: string
  readonly parentId: string | null
  readonly op: string
  readonly startedAt: Instant
  /** The call's `attributes.weave`. */
  readonly weave: JsonObject
  readonly inputs: JsonObject
}

export const starting = ({ ports }: Pick<Evaluations, 'ports'>, call: NewCall): CallWrite =>
  startCall(call.id, {
    project_id: call.projectId,
    op_name: refOfOp(ports.sha256, call.projectId, call.op),
    trace_id: call.traceId,
    parent_id: call.parentId,
    started_at: call.startedAt,
    attributes: { weave: call.weave },
    inputs: call.inputs,
  })

export const ending = (
  { projectId, id }: Pick<NewCall, 'projectId' | 'id'>,
  endedAt: Instant,
  output: Json,
): CallWrite => endCall({ project_id: projectId, id, ended_at: endedAt, output })

/** When a request that starts a call began: for a repeat under the same Idempotency-Key, when the first did. */
export const startOf = async (
  evaluations: Pick<Evaluations, 'ports'>,
  { headers }: Pick<RouteRequest, 'headers'>,
  projectId: string,
  id: string,
): Promise<{ readonly startedAt: Instant; readonly isRepeat: boolean }> => {
  const mayBeRepeat = headers['idempotency-key'] !== undefined || headers['x-weave-retry-id'] !== undefined
  const earlier = mayBeRepeat ? await callNow(evaluations.ports, projectId, id) : undefined
  return {
    startedAt: earlier?.started_at ?? instantOf(evaluations.ports.clock.now()),
    isRepeat: earlier !== undefined,
  }
}

/** Writes calls, with the ops that they name; refused as a whole where one call conflicts with a recorded one. */
export const writeEvaluationCalls = async (
  { ports }: Pick<Evaluations, 'ports'>,
  projectId: string,
  ops: readonly string[],
  writes: readonly CallWrite[],
  cause: Cause,
): Promise<Pick<WriteResults, 'position'>> => {
  await Promise.all(
    ops.map((object_id) => publishObject(ports)(projectId, object_id, OP_WITHOUT_CODE, cause)),
  )
  const { written, position } = await writeCalls(ports)(writes, cause)
  for (const { refused } of written)
    if (refused === 'too-large') throw new Failure('too-large', 'The call is too large for one event.')
    else if (refused !== undefined) throw new Failure('conflict', refused.reason)
  return { position }
}
