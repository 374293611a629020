import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { Problem } from '../../kernel/codec/problem.js'
import type { Cause } from '../../kernel/event.js'
import { FEEDBACK_PAYLOAD } from '../../domain/feedback/content.js'
import {
  feedbackDecider,
  sameFeedback,
  feedbackStream,
  type FeedbackContent,
  type PurgeFeedback,
  type ReplaceFeedback,
} from '../../domain/feedback/feedback.js'
import { keptPayload, kindProblems } from '../../domain/feedback/kinds.js'
import { canonicalJson } from '../../kernel/json/canonical.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { parseRef, REF_SCHEME } from '../../domain/refs/ref.js'
import { spill } from '../../kernel/spill/spill.js'
import { uuidOfDigest } from '../../kernel/uuid-of-digest.js'
import { commandsOf, execute } from '../../kernel/execute.js'
import { id as feedbackId } from '../../kernel/ids.js'
import { inChunks } from '../../kernel/in-chunks.js'
import { Failure, invalidBody } from '../failure.js'
import { later } from '../../kernel/later.js'
import { isCallDeleted } from '../refs/deleted-call.js'
import type { Principal } from '../principal.js'
import { feedbackChecks, type CheckServices } from './check-references.js'
import { emojiName } from './emoji-names.js'
import type { FeedbackCreate } from './new-feedback.js'

type FeedbackPorts = Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock'>

/** Limits concurrency, so that a large batch does not start all reads and writes at once. */
const AT_ONCE = 100

const lastOf = (positions: readonly (Position | undefined)[]): Position | undefined =>
  positions.reduce(later, undefined)

const MAX_PROBLEMS = 100

export interface BatchOptions {
  /** The location of a problem of one element; a conflict is then such a problem too, and nothing is recorded. */
  readonly placed?: (problem: Problem, index: number) => Problem
  /** The id of the feedback that the one of the batch replaces. */
  readonly replacing?: string | null
}

/** Makes the id of an element that names none. */
type NewId = (index: number, one: FeedbackCreate) => string

/** Validates all feedback and returns a function that records it. Results and problems keep the order of the request. */
export const prepareBatch = (
  ports: FeedbackPorts,
  batch: readonly FeedbackCreate[],
  cause: Cause,
  newId: NewId,
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
    const responses = recorded.map(responseOf)
    const position = lastOf(recorded.map((one) => one.position))
    if (!feedbackId.is(replacing)) return { responses, position }
    // Last, so that an interruption loses neither.
    const { project_id } = batch[0]!
    const replace = {
      type: 'ReplaceFeedback',
      project_id,
      id: replacing,
      replaced_by: responses[0]!.id,
    } as const
    return { responses, position: later(position, (await changeFeedback(ports, replace)(cause)).readableAt) }
  }
}

const changeFeedback = commandsOf(feedbackDecider, ({ project_id, id }: ReplaceFeedback | PurgeFeedback) =>
  feedbackStream(project_id, id),
)

/** Purges feedback by its ids. */
export const purgeFeedback =
  (ports: Pick<Ports, 'eventStore' | 'ids'>, project_id: string, ids: readonly string[]) =>
  async (cause: Cause): Promise<Position | undefined> => {
    const purged = await inChunks([...new Set(ids)].filter(feedbackId.is), AT_ONCE, (id) =>
      changeFeedback(ports, { type: 'PurgeFeedback', project_id, id })(cause),
    )
    return lastOf(purged.map(({ readableAt }) => readableAt))
  }

/** As {@link prepareBatch}, once what the feedback refers to is checked too. */
export const checkedBatches = (services: FeedbackPorts & CheckServices) => {
  const check = feedbackChecks(services)
  return async (
    { principal, cause }: { readonly principal: Principal; readonly cause: Cause },
    batch: readonly FeedbackCreate[],
    newId: NewId,
    options: BatchOptions = {},
  ) => {
    const record = prepareBatch(services, batch, cause, newId, options)
    if (options.placed === undefined) await refuseDeletedCalls(services, batch)
    await check(principal, batch, options.placed ?? ((problem) => problem))
    return record
  }
}

/** Feedback in a batch is recorded, and not readable, so that a deleted call does not refuse the rest. */
const refuseDeletedCalls = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  batch: readonly FeedbackCreate[],
): Promise<void> => {
  for (const { project_id, weave_ref } of batch) {
    const ref = parseRef(weave_ref)
    if (ref?.kind === 'call' && (await isCallDeleted(eventStore, project_id, ref.id)))
      throw new Failure('not-found', 'weave_ref: the call was deleted.')
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
