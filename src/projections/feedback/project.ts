import { feedbackEvents, type FeedbackEvent } from '../../domain/feedback/feedback.js'
import { payloadText, storedText } from '../clickhouse-values.js'
import { projectionOf, type Projected } from '../projection.js'
import type { RowOf } from '../table.js'
import { FEEDBACK } from './tables.js'

type Row = RowOf<typeof FEEDBACK>

/** One row for each piece of feedback in a batch. */
export const feedbackProjection = projectionOf('feedback', feedbackEvents, (events) => {
  const rows = new Map<string, Row>()
  for (const event of events) {
    const row = rowOf(event)
    if (row === undefined) continue
    const key = `${row.project_id}/${row.id}`
    rows.set(key, { ...rows.get(key), ...row })
  }
  return [FEEDBACK.rows([...rows.values()])]
})

const rowOf = ({ type, data, position, texts }: Projected<FeedbackEvent>): Row | undefined => {
  switch (type) {
    case 'FeedbackGiven':
      return {
        ...data,
        payload: storedText(texts?.['payload']) ?? payloadText(data.payload),
        given_position: position,
      }
    case 'FeedbackReplaced':
    case 'FeedbackPurged':
      return { project_id: data.project_id, id: data.id, purged_position: position }
    default:
      return undefined
  }
}
