import { execute } from '../../runtime/execute.js'
import { feedbackDecider } from '../../domain/feedback/decider.js'
import { feedbackStream } from '../../domain/feedback/events.js'
import { id as anyId } from '../../domain/ids.js'
import { writesOnce } from '../conduct.js'
import { invalidField } from '../failure.js'
import { requireReading } from '../projects/access.js'
import { route, type AnyRoute } from '../route.js'
import { later } from '../tracing/tracing.js'
import { feedbackCreated, feedbackReplace } from './codecs.js'
import { giveAll, type FeedbackWrites } from './create.js'

/** `/feedback/replace`: the new one first, so that what breaks off between them loses neither. */
export const replaceRoute = (writes: FeedbackWrites): AnyRoute =>
  route({
    method: 'post',
    path: '/feedback/replace',
    summary: 'Give feedback in the place of another, which is purged.',
    body: feedbackReplace,
    ...writesOnce,
    takes: ['Idempotency-Key'],
    answer: feedbackCreated,
    handle: async (asked) => {
      const { feedback_id, ...replacement } = asked.body
      const { project_id } = replacement
      requireReading(writes.teams, asked.principal, project_id)
      if (replacement.id === feedback_id)
        throw invalidField(['id'], 'value_error', 'Value error, a replacement should have an id of its own')
      const { answers, position } = await giveAll(writes)(
        [replacement],
        asked,
        (problem) => problem,
        feedback_id,
      )
      const [answer] = answers
      if (!anyId.is(feedback_id)) return { body: answer, position }
      const command = {
        type: 'ReplaceFeedback',
        project_id,
        id: feedback_id,
        replaced_by: answer!.id,
      } as const
      const stream = feedbackStream(project_id, feedback_id)
      const replaced = await execute(writes.ports)(feedbackDecider, stream, [command], asked.cause)
      const last = later(position, replaced.position)
      return { body: answer, position: writes.reading.acknowledged(project_id, last) }
    },
  })
