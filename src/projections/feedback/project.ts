import type { FeedbackEvent } from '../../domain/feedback/feedback.js'
import type { Json } from '../../kernel/json/json.js'
import type { JsonText } from '../../kernel/ports/clickhouse.js'
import { dateTime64, payloadText, storedText } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import { FEEDBACK_COLUMNS, JSON_COLUMNS, TEXT_COLUMNS } from './columns.js'

type Positioned = FeedbackEvent & Pick<ProjectedEvent, 'position' | 'texts'>

/** Columns by name; absent ones keep their values. */
type Row = Partial<Record<(typeof FEEDBACK_COLUMNS)[number], Json | JsonText>>

/** One row for each piece of feedback in a batch. */
export const feedbackProjection: Projection = {
  name: 'feedback',
  rowsOf: (events) => {
    const rows = new Map<string, Row>()
    for (const event of events as readonly Positioned[]) {
      const row = rowOf(event)
      if (row === undefined) continue
      const key = `${event.data.project_id}/${event.data.id}`
      rows.set(key, { ...rows.get(key), ...row })
    }
    if (rows.size === 0) return []
    const values = [...rows.values()].map((row) => FEEDBACK_COLUMNS.map((column) => row[column] ?? null))
    return [{ table: 'feedback', columns: FEEDBACK_COLUMNS, values }]
  },
}

const rowOf = ({ type, data, position, texts }: Positioned): Row | undefined => {
  switch (type) {
    case 'FeedbackGiven':
      return {
        ...Object.fromEntries([...TEXT_COLUMNS, ...JSON_COLUMNS].map((column) => [column, data[column]])),
        payload: storedText(texts?.['payload']) ?? payloadText(data.payload),
        created_at: dateTime64(data.created_at),
        given_position: String(position),
      }
    case 'FeedbackReplaced':
    case 'FeedbackPurged':
      return { project_id: data.project_id, id: data.id, purged_position: String(position) }
    default:
      return undefined
  }
}
