import type { Instant } from '../../domain/codec/instant.js'
import type { Problem } from '../../domain/codec/problem.js'
import type { Decider } from '../../domain/decider.js'
import type { Cause } from '../../domain/event.js'
import { execute, type ExecuteResult } from '../../runtime/execute.js'
import type { FeedbackCommand, GiveFeedback } from '../../domain/feedback/commands.js'
import { FEEDBACK_PAYLOAD } from '../../domain/feedback/content.js'
import { feedbackDecider, type FeedbackState } from '../../domain/feedback/decider.js'
import { feedbackStream, type FeedbackContent, type FeedbackEvent } from '../../domain/feedback/events.js'
import { keptPayload, kindProblems } from '../../domain/feedback/kinds.js'
import type { JsonObject } from '../../domain/json/json.js'
import type { Ports } from '../../domain/ports/ports.js'
import { spill } from '../../domain/spill/spill.js'
import { Failure } from '../failure.js'
import type { FeedbackCreate } from './codecs.js'

export type FeedbackPorts = Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock'>

export interface PreparedFeedback {
  readonly content: FeedbackContent
  readonly payload: JsonObject
}

/** Validation beyond the codec. */
export const problemsOf = (asked: FeedbackCreate): readonly Problem[] => {
  const own = asked.weave_ref.startsWith(`weave:///${asked.project_id}/`)
  const msg = 'Value error, the reference should be in the same project'
  return [...(own ? [] : [{ loc: ['weave_ref'], type: 'value_error', msg }]), ...kindProblems(asked)]
}

export const prepareFeedback = async (
  ports: FeedbackPorts,
  asked: FeedbackCreate,
  id: string,
): Promise<PreparedFeedback> => {
  const payload = keptPayload(asked.feedback_type, asked.payload)
  const { wb_user_id: _ignored, ...said } = asked
  const content = await spill(ports)({ ...said, id, payload, spilled: {} }, FEEDBACK_PAYLOAD)
  return { content, payload }
}

/** Records feedback. A retry with the same id and content writes nothing. */
export const recordFeedback = (
  ports: FeedbackPorts,
  { content }: PreparedFeedback,
  now: Instant,
  cause: Cause,
  decider: FeedbackDecider = feedbackDecider,
): Promise<ExecuteResult<FeedbackState>> => {
  const command: GiveFeedback = { type: 'GiveFeedback', content, userId: cause.actor, now }
  const stream = feedbackStream(content.project_id, content.id)
  return execute(ports)(decider, stream, [command], cause, { assumeNew: decider === feedbackDecider })
}

type FeedbackDecider = Decider<FeedbackState, FeedbackCommand, FeedbackEvent>

/** A dry run: returns the refusals of the real decider without events. */
export const dryRunDecider: FeedbackDecider = {
  ...feedbackDecider,
  decide: (state, command) => ({ ...feedbackDecider.decide(state, command), events: [] }),
}

/** The response for recorded feedback. */
export const responseOf = (
  { content, payload }: PreparedFeedback,
  { state, refusals }: ExecuteResult<FeedbackState>,
) => {
  const [refusal] = refusals.values()
  if (refusal !== undefined) throw new Failure('conflict', refusal.reason)
  const given = state.given!
  return { id: content.id, created_at: given.created_at, wb_user_id: given.wb_user_id ?? '', payload }
}
