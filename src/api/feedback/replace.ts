import { execute } from '../../runtime/execute.js'
import { feedbackDecider } from '../../domain/feedback/decider.js'
import { feedbackStream } from '../../domain/feedback/events.js'
import { id as anyId } from '../../domain/ids.js'
import { inBody } from '../authorization.js'
import { invalidField } from '../failure.js'
import type { AnyRoute } from '../route.js'
import { writeProject } from '../route-kinds.js'
import { later } from '../tracing/tracing.js'
import { feedbackCreated, feedbackReplace } from './codecs.js'
import { prepareBatch, type FeedbackWrites } from './create.js'

/** Writes the replacement before purging the old feedback, so that an interruption loses neither. */
export const replaceRoute = (writes: FeedbackWrites): AnyRoute =>
  writeProject(writes, {
    method: 'post',
    path: '/feedback/replace',
    summary: 'Replace feedback: creates the new one and purges the old one.',
    body: feedbackReplace,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: feedbackCreated,
    project: inBody,
    handle: (request) => {
      const { feedback_id, ...replacement } = request.body
      const { project_id } = replacement
      if (replacement.id === feedback_id)
        throw invalidField(['id'], 'value_error', 'Value error, a replacement should have a new id')
      const give = prepareBatch(writes)([replacement], request, (problem) => problem, feedback_id)
      return async (cause) => {
        const { answers, position } = await give()
        const [answer] = answers
        if (!anyId.is(feedback_id)) return { body: answer, position }
        const command = {
          type: 'ReplaceFeedback',
          project_id,
          id: feedback_id,
          replaced_by: answer!.id,
        } as const
        const stream = feedbackStream(project_id, feedback_id)
        const replaced = await execute(writes.ports)(feedbackDecider, stream, [command], cause)
        return { body: answer, position: later(position, replaced.readableAt) }
      }
    },
  })
