import { execute } from '../../runtime/execute.js'
import { feedbackDecider } from '../../domain/feedback/decider.js'
import { feedbackStream } from '../../domain/feedback/events.js'
import { id } from '../../domain/ids.js'
import type { Position } from '../../domain/ports/event-store.js'
import { inBody } from '../authorization.js'
import type { AnyRoute } from '../route.js'
import { changeProject } from '../route-kinds.js'
import { namedIds } from '../purging.js'
import { emptyResponse } from '../empty-response.js'
import { later } from '../tracing/tracing.js'
import { feedbackPurge } from './codecs.js'
import type { FeedbackWrites } from './create.js'

const AT_ONCE = 500

export const purgeRoute = (writes: FeedbackWrites): AnyRoute =>
  changeProject(writes, {
    method: 'post',
    path: '/feedback/purge',
    summary: 'Purge feedback by its ids.',
    body: feedbackPurge,
    response: emptyResponse,
    project: inBody,
    handle: ({ body: { project_id, query } }) => {
      const ids = [...new Set(namedIds(query.$expr, 'Feedback is'))].filter(id.is)
      return async (cause) => {
        let position: Position | undefined
        for (let from = 0; from < ids.length; from += AT_ONCE) {
          const purged = await Promise.all(
            ids.slice(from, from + AT_ONCE).map((one) => {
              const command = { type: 'PurgeFeedback', project_id, id: one } as const
              const stream = feedbackStream(project_id, one)
              return execute(writes.ports)(feedbackDecider, stream, [command], cause)
            }),
          )
          for (const one of purged) position = later(position, one.readableAt)
        }
        return { body: {}, position }
      }
    },
  })
