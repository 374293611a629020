import type { Operand } from '../../domain/query/expression.js'
import { execute } from '../../domain/execute.js'
import { feedbackDecider } from '../../domain/feedback/decider.js'
import { feedbackStream } from '../../domain/feedback/events.js'
import { id } from '../../domain/ids.js'
import type { Position } from '../../domain/ports/event-store.js'
import { writesProject } from '../conduct.js'
import { Failure } from '../failure.js'
import { requireReading } from '../projects/access.js'
import { route, type AnyRoute } from '../route.js'
import { nothingToSay } from '../nothing-to-say.js'
import { later } from '../tracing/tracing.js'
import { feedbackPurge } from './codecs.js'
import type { FeedbackWrites } from './create.js'

const AT_ONCE = 500

/** `/feedback/purge`: by ids alone, so that no query deletes more than it names. */
export const purgeRoute = ({ ports, teams, reading }: FeedbackWrites): AnyRoute =>
  route({
    method: 'post',
    path: '/feedback/purge',
    summary: 'Purge feedback by its ids.',
    body: feedbackPurge,
    ...writesProject,
    answer: nothingToSay,
    handle: async ({ body: { project_id, query }, principal, cause }) => {
      requireReading(teams, principal, project_id)
      const ids = [...new Set(namedIds(query.$expr))].filter(id.is)
      let position: Position | undefined
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const purged = await Promise.all(
          ids.slice(from, from + AT_ONCE).map((one) => {
            const command = { type: 'PurgeFeedback', project_id, id: one } as const
            return execute(ports)(feedbackDecider, feedbackStream(project_id, one), [command], cause)
          }),
        )
        for (const one of purged) position = later(position, one.position)
      }
      return { body: {}, position: reading.acknowledged(project_id, position) }
    },
  })

const namedIds = (operand: Operand): readonly string[] => {
  if ('$or' in operand) return operand.$or.flatMap(namedIds)
  if ('$eq' in operand && isId(operand.$eq[0])) return [literalId(operand.$eq[1])]
  if ('$in' in operand && isId(operand.$in[0])) return operand.$in[1].map(literalId)
  throw notByIds()
}

const isId = (operand: Operand): boolean => '$getField' in operand && operand.$getField === 'id'

const literalId = (operand: Operand): string => {
  if ('$literal' in operand && typeof operand.$literal === 'string') return operand.$literal
  throw notByIds()
}

const notByIds = (): Failure =>
  new Failure(
    'bad-request',
    'Feedback is purged by its ids alone: query should be $eq or $in on the field id, or $or of such.',
  )
