import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import { OP_WITHOUT_CODE, refOfOp } from '../../domain/evaluations/ops.js'
import type { Cause } from '../../kernel/event.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { endCall, startCall, type CallWrite } from '../../application/calls/record.js'
import { writeCalls, type WriteResults } from '../../application/calls/write-calls.js'
import { Failure } from '../../application/failure.js'
import { publishObject } from '../../application/objects/publish.js'
import type { RouteRequest } from '../server/route.js'
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

export const starting = (services: Pick<Services, 'sha256'>, call: NewCall): CallWrite =>
  startCall(call.id, {
    project_id: call.projectId,
    op_name: refOfOp(services.sha256, call.projectId, call.op),
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
  services: Pick<Services, 'eventStore' | 'blobs' | 'clock'>,
  { headers }: Pick<RouteRequest, 'headers'>,
  projectId: string,
  id: string,
): Promise<{ readonly startedAt: Instant; readonly isRepeat: boolean }> => {
  const mayBeRepeat = headers['idempotency-key'] !== undefined || headers['x-weave-retry-id'] !== undefined
  const earlier = mayBeRepeat ? await callNow(services, projectId, id) : undefined
  return {
    startedAt: earlier?.started_at ?? instantOf(services.clock.now()),
    isRepeat: earlier !== undefined,
  }
}

/** Writes calls, with the ops that they name; refused as a whole where one call conflicts with a recorded one. */
export const writeEvaluationCalls = async (
  services: Pick<Services, keyof Ports>,
  projectId: string,
  ops: readonly string[],
  writes: readonly CallWrite[],
  cause: Cause,
): Promise<Pick<WriteResults, 'position'>> => {
  await Promise.all(
    ops.map((object_id) => publishObject(services)(projectId, object_id, OP_WITHOUT_CODE, cause)),
  )
  const { written, position } = await writeCalls(services)(writes, cause)
  for (const { refused } of written)
    if (refused === 'too-large') throw new Failure('too-large', 'The call is too large for one event.')
    else if (refused !== undefined) throw new Failure('conflict', refused.reason)
  return { position }
}
