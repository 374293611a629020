import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { Problem } from '../../kernel/codec/problem.js'
import type { Cause } from '../../kernel/event.js'
import { FEEDBACK_PAYLOAD } from '../../domain/feedback/content.js'
import {
  feedbackDecider,
  sameFeedback,
  feedbackStream,
  type FeedbackContent,
} from '../../domain/feedback/feedback.js'
import { keptPayload, kindProblems } from '../../domain/feedback/kinds.js'
import { canonicalJson } from '../../kernel/json/canonical.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { REF_SCHEME } from '../../domain/refs/ref.js'
import { spill } from '../../kernel/spill/spill.js'
import { uuidOfDigest } from '../../kernel/uuid-of-digest.js'
import { execute } from '../../kernel/execute.js'
import { inChunks } from '../../kernel/in-chunks.js'
import { Failure, invalidBody } from '../failure.js'
import { later } from '../../kernel/later.js'
import { emojiName } from './emoji-names.js'
import type { FeedbackCreate } from './new-feedback.js'

type FeedbackPorts = Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock'>

/** Limits concurrency, so that a large batch does not start all reads and writes at once. */
export const AT_ONCE = 100

export const lastOf = (positions: readonly (Position | undefined)[]): Position | undefined =>
  positions.reduce(later, undefined)

const MAX_PROBLEMS = 100

export interface BatchOptions {
  /** The location of a problem of one element; a conflict is then such a problem too, and nothing is recorded. */
  readonly placed?: (problem: Problem, index: number) => Problem
  /** The id of the feedback to be replaced. */
  readonly replacing?: string | null
}

/** Validates all feedback and returns a function that records it. Results and problems keep the order of the request. */
export const prepareBatch = (
  ports: FeedbackPorts,
  batch: readonly FeedbackCreate[],
  cause: Cause,
  /** Makes the id of an element that names none. */
  newId: (index: number, one: FeedbackCreate) => string,
  { placed, replacing = null }: BatchOptions = {},
) => {
  const problems = batch.flatMap((one, index) =>
    problemsOf(one).map((problem) => placed?.(problem, index) ?? problem),
  )
  if (problems.length > 0) throw invalidBody(problems.slice(0, MAX_PROBLEMS))

  return async () => {
    const prepared = await inChunks(batch, AT_ONCE, async (one, index) => {
      const repeatable = () => repeatableId(ports, cause.actor, one, replacing)
      return prepareFeedback(ports, one, one.id ?? repeatable() ?? newId(index, one))
    })
    const now = instantOf(ports.clock.now())
    if (placed !== undefined) {
      const conflicts = await conflictsOf(ports, prepared, batch, now, cause)
      if (conflicts.length > 0)
        throw invalidBody(conflicts.slice(0, MAX_PROBLEMS).map(([index, problem]) => placed(problem, index)))
    }
    const recorded = await inChunks(prepared, AT_ONCE, async (one, index) => {
      const result = await recordFeedback(ports, one, now, cause)
      if (batch[index]!.id !== null || !result.state.gone) return result
      // Purged feedback with a derived id gets a new id, because its old id stays invisible.
      return recordFeedback(ports, { ...one, content: { ...one.content, id: ports.ids.next() } }, now, cause)
    })
    return { responses: recorded.map(responseOf), position: lastOf(recorded.map(({ position }) => position)) }
  }
}

/** Validation beyond the codec. */
const problemsOf = (feedback: FeedbackCreate): readonly Problem[] => {
  const isOwn = feedback.weave_ref.startsWith(`${REF_SCHEME}${feedback.project_id}/`)
  const msg = 'Value error, the reference should be in the same project'
  return [...(isOwn ? [] : [{ loc: ['weave_ref'], type: 'value_error', msg }]), ...kindProblems(feedback)]
}

/**
 * Derives an id from the content of feedback that can only be meant once: a score that names the call of its scorer, or
 * a replacement. Clients that send no ids, such as the npm SDK, can then retry after a lost response. Undefined where
 * the same feedback may be given twice.
 */
const repeatableId = (
  { sha256 }: Pick<Ports, 'sha256'>,
  userId: string,
  { wb_user_id: _ignored, ...content }: FeedbackCreate,
  replacing: string | null,
): string | undefined =>
  content.call_ref === null && replacing === null
    ? undefined
    : uuidOfDigest(sha256(canonicalJson([userId, replacing, content])))

interface PreparedFeedback {
  readonly content: FeedbackContent
  readonly payload: JsonObject
}

export const prepareFeedback = async (
  ports: FeedbackPorts,
  { wb_user_id: _ignored, ...feedback }: FeedbackCreate,
  id: string,
): Promise<PreparedFeedback> => {
  const payload = keptPayload(feedback.feedback_type, feedback.payload, emojiName)
  return { content: await spill(ports)({ ...feedback, id, payload, spilled: {} }, FEEDBACK_PAYLOAD), payload }
}

/** Decides without writing: the refusals of the real decider, and no events. */
const dryRunDecider: typeof feedbackDecider = {
  ...feedbackDecider,
  decide: (state, command) => ({ ...feedbackDecider.decide(state, command), events: [] }),
}

/** The elements that conflict with recorded feedback or with an earlier element, by their index. */
const conflictsOf = async (
  ports: FeedbackPorts,
  prepared: readonly PreparedFeedback[],
  batch: readonly FeedbackCreate[],
  now: Instant,
  cause: Cause,
): Promise<readonly (readonly [number, Problem])[]> => {
  const recorded = await inChunks(prepared, AT_ONCE, async (one, index) =>
    batch[index]!.id === null
      ? undefined
      : (await recordFeedback(ports, one, now, cause, dryRunDecider)).refusal?.reason,
  )
  const first = new Map<string, FeedbackContent>()
  return prepared.flatMap(({ content }, index) => {
    let msg = recorded[index]
    if (msg === undefined) {
      const stream = feedbackStream(content.project_id, content.id)
      const earlier = first.get(stream)
      if (earlier === undefined) first.set(stream, content)
      else if (!sameFeedback(earlier, content))
        msg = 'Duplicate id in the batch. Different pieces of feedback need different ids.'
    }
    return msg === undefined ? [] : [[index, { loc: ['id'], type: 'conflict', msg }] as const]
  })
}

/** A retry with the same id and content writes nothing. */
export const recordFeedback = async (
  ports: FeedbackPorts,
  { content, payload }: PreparedFeedback,
  now: Instant,
  cause: Cause,
  decider = feedbackDecider,
) => {
  const { id, project_id } = content
  const command = { type: 'GiveFeedback', content, userId: cause.actor, now } as const
  const options = { assumeNew: decider === feedbackDecider }
  const { state, refusals, readableAt } = await execute(ports)(
    decider,
    feedbackStream(project_id, id),
    [command],
    cause,
    options,
  )
  return { id, payload, state, refusal: refusals.get(0), position: readableAt }
}

const responseOf = ({ id, payload, state, refusal }: Awaited<ReturnType<typeof recordFeedback>>) => {
  if (refusal !== undefined) throw new Failure('conflict', refusal.reason)
  const { created_at, wb_user_id } = state.given!
  return { id, created_at, wb_user_id: wb_user_id ?? '', payload }
}
