import { instantOf } from '../../domain/codec/instant.js'
import type { Problem } from '../../domain/codec/problem.js'
import type { Cause } from '../../domain/event.js'
import type { Position } from '../../domain/ports/event-store.js'
import { inBody } from '../authorization.js'
import { Failure, invalidBody } from '../failure.js'
import type { AnyRoute, RouteRequest } from '../route.js'
import { writeProject, type ProjectWrites } from '../route-kinds.js'
import { idFor } from '../tracing/generated-id.js'
import { later } from '../tracing/tracing.js'
import { feedbackBatch, feedbackBatchCreated, feedbackCreate, feedbackCreated } from './codecs.js'
import type { FeedbackCreate } from './codecs.js'
import { repeatableId } from './repeatable-id.js'
import {
  responseOf,
  recordFeedback,
  prepareFeedback,
  problemsOf,
  dryRunDecider,
  type FeedbackPorts,
  type PreparedFeedback,
} from './write.js'

export interface FeedbackWrites extends ProjectWrites {
  readonly ports: FeedbackPorts
}

const AT_ONCE = 100

export const createRoutes = (writes: FeedbackWrites): readonly AnyRoute[] => [
  writeProject(writes, {
    method: 'post',
    path: '/feedback/create',
    summary: 'Create feedback on a call or an object. With an id from the client it can be retried.',
    body: feedbackCreate,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: feedbackCreated,
    project: inBody,
    handle: (request) => {
      const give = prepareBatch(writes)([request.body], request, (problem) => problem)
      return async () => {
        const { answers, position } = await give()
        return { body: answers[0], position }
      }
    },
  }),
  writeProject(writes, {
    method: 'post',
    path: '/feedback/batch/create',
    summary: 'Create several pieces of feedback. If one is invalid, none is created.',
    body: feedbackBatch,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: feedbackBatchCreated,
    project: ({ body: { batch } }) => batch.map(({ project_id }) => project_id),
    handle: (request) => {
      const inBatch = (problem: Problem, index: number) => ({
        ...problem,
        loc: ['batch', index, ...problem.loc],
      })
      const give = prepareBatch(writes)(request.body.batch, request, inBatch)
      return async () => {
        const { answers, position } = await give()
        return { body: { res: answers }, position }
      }
    },
  }),
]

/**
 * Validates all feedback and returns a function that records it. Results and problems keep the order of the request.
 * `replacing` is the id of the feedback to be replaced, if any.
 */
export const prepareBatch =
  ({ ports }: Pick<FeedbackWrites, 'ports'>) =>
  (
    all: readonly FeedbackCreate[],
    request: Pick<RouteRequest, 'headers' | 'principal' | 'cause'>,
    placed: (problem: Problem, index: number) => Problem,
    replacing: string | null = null,
  ) => {
    const { principal, cause } = request
    const problems = all.flatMap((one, index) => problemsOf(one).map((problem) => placed(problem, index)))
    if (problems.length > 0) throw invalidBody(problems.slice(0, MAX_PROBLEMS))

    return async () => {
      const repeatable = (one: FeedbackCreate) => repeatableId(ports, principal.userId, one, replacing)
      const givings = await inBatches(all, (one, index) =>
        prepareFeedback(ports, one, one.id ?? repeatable(one) ?? idFor(ports, request, index, one)),
      )
      const now = instantOf(ports.clock.now())
      if (givings.length > 1) await refuseConflicts(ports, givings, all, cause)
      const given = await inBatches(givings, async (giving, index) => {
        const executed = await recordFeedback(ports, giving, now, cause)
        if (all[index]!.id !== null || !executed.state.gone)
          return { answer: responseOf(giving, executed), position: executed.readableAt }
        // Feedback with a derived id that was purged before gets a new id: under the old one it would stay invisible.
        const anew = { ...giving, content: { ...giving.content, id: ports.ids.next() } }
        const again = await recordFeedback(ports, anew, now, cause)
        return { answer: responseOf(anew, again), position: again.readableAt }
      })
      let position: Position | undefined
      for (const one of given) position = later(position, one.position)
      return { answers: given.map(({ answer }) => answer), position }
    }
  }

const MAX_PROBLEMS = 100

/** Refuses the whole batch before writing if one piece conflicts with recorded feedback or with another piece. */
const refuseConflicts = async (
  ports: FeedbackPorts,
  givings: readonly PreparedFeedback[],
  all: readonly FeedbackCreate[],
  cause: Cause,
): Promise<void> => {
  const own = givings.filter((_, index) => all[index]!.id !== null)
  const streams = new Set(own.map(({ content }) => `${content.project_id}/${content.id}`))
  if (streams.size < own.length)
    throw new Failure('conflict', 'Duplicate id in the batch. Every piece of feedback needs its own id.')
  const now = instantOf(ports.clock.now())
  await inBatches(own, async (giving) => {
    const { refusals } = await recordFeedback(ports, giving, now, cause, dryRunDecider)
    for (const { reason } of refusals.values()) throw new Failure('conflict', reason)
  })
}

/** Limits concurrency, so that a large batch does not start all reads and writes at once. */
const inBatches = async <A, B>(
  all: readonly A[],
  work: (one: A, index: number) => Promise<B>,
): Promise<readonly B[]> => {
  const done: B[] = []
  for (let from = 0; from < all.length; from += AT_ONCE)
    done.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map((one, at) => work(one, from + at)))))
  return done
}
