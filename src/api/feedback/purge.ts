import { execute } from '../../runtime/execute.js'
import { feedbackDecider } from '../../domain/feedback/decider.js'
import { feedbackStream } from '../../domain/feedback/events.js'
import { id } from '../../domain/ids.js'
import type { Position } from '../../domain/ports/event-store.js'
import { writesProject } from '../conduct.js'
import { requireReading } from '../projects/access.js'
import { route, type AnyRoute } from '../route.js'
import { namedIds } from '../purging.js'
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
      const ids = [...new Set(namedIds(query.$expr, 'Feedback is'))].filter(id.is)
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
