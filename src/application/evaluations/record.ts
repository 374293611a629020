import * as E from 'fp-ts/lib/Either.js'
import { feedbackTypeOf } from '../../domain/evaluations/rows-of-calls.js'
import { callRef, versionRef } from '../../domain/refs/ref.js'
import { decode } from '../../kernel/codec/codec.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import type { Json } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { projectOf, type CallWrite } from '../calls/record.js'
import { writeCalls } from '../calls/write-calls.js'
import { feedbackCreate } from '../feedback/new-feedback.js'
import { prepareFeedback, recordFeedback } from '../feedback/record-feedback.js'
import { publishObject } from '../objects/publish.js'
import type { EvaluationServices } from './services.js'

export type WriteServices = Ports & Pick<EvaluationServices, 'reading'>

/** Makes later reads of the project by this process wait for what was written. */
const acknowledge = (
  { reading }: Pick<WriteServices, 'reading'>,
  projectId: string,
  position: Position | undefined,
): void => void reading?.ackPosition(projectId, position)

/** Writes calls of one project; a call that repeats a recorded one writes nothing. */
export const recordCalls = async (
  services: WriteServices,
  writes: readonly CallWrite[],
  cause: Cause,
): Promise<void> => {
  const [first] = writes
  if (first === undefined) return
  const { position } = await writeCalls(services)(writes, cause)
  acknowledge(services, projectOf(first), position)
}

/** Publishes a version of an object and returns a reference to it. */
export const publishVersion = async (
  services: WriteServices,
  projectId: string,
  objectId: string,
  value: Json,
  cause: Cause,
): Promise<string> => {
  const { digest, position } = await publishObject(services)(projectId, objectId, value, cause)
  acknowledge(services, projectId, position)
  return versionRef(projectId, 'object', objectId, digest)
}

/** A score of a call, to be recorded as feedback. */
export interface CallScore {
  readonly projectId: string
  /** Of the feedback; recording the same id again writes nothing. */
  readonly id: string
  readonly callId: string
  readonly scorer: string
  readonly scorerRef: string
  /** The call of the scorer; null where none was recorded. */
  readonly scoreCallId: string | null
  readonly value: Json
}

const decodeFeedback = decode(feedbackCreate)

/** A score as the SDKs give it on a call. */
export const scoreFeedback = ({
  projectId,
  callId,
  scorer,
  scorerRef,
  scoreCallId,
  value,
}: Omit<CallScore, 'id'>) =>
  decodeFeedback({
    project_id: projectId,
    weave_ref: callRef(projectId, callId),
    feedback_type: feedbackTypeOf(scorer),
    payload: { output: value },
    runnable_ref: scorerRef,
    call_ref: scoreCallId === null ? null : callRef(projectId, scoreCallId),
  })

export const giveScore = async (services: WriteServices, score: CallScore, cause: Cause): Promise<void> => {
  const decoded = scoreFeedback(score)
  if (E.isLeft(decoded)) throw new Error(`the score is no valid feedback: ${decoded.left[0]?.msg}`)
  const prepared = await prepareFeedback(services, decoded.right, score.id)
  // The first score is kept where another was given under this id.
  const { position } = await recordFeedback(services, prepared, instantOf(services.clock.now()), cause)
  acknowledge(services, score.projectId, position)
}
