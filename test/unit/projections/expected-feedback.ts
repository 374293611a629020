import type { FeedbackEvent, FeedbackGiven } from '../../../src/domain/feedback/events.js'
import type { Json } from '../../../src/domain/json/json.js'
import type { ClickHouse } from '../../../src/domain/ports/clickhouse.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'

type Row = Readonly<Record<string, unknown>>
type Positioned = FeedbackEvent & Pick<ProjectedEvent, 'position'>

/** What the table holds of one project per event, in the order of the events; a project's number is its event's. */
export const readFeedback = (clickHouse: ClickHouse, entity: string): Promise<readonly Row[]> =>
  clickHouse.writer.query<Row>(
    `SELECT * EXCEPT (project_id) FROM feedback FINAL WHERE startsWith(project_id, {prefix:String})
    ORDER BY toUInt32(splitByChar('/', project_id)[2])`,
    { prefix: `${entity}/` },
  )

export const expectedFeedback = (events: readonly ProjectedEvent[]): readonly Row[] =>
  (events as readonly Positioned[]).flatMap((event): Row[] => {
    const position = Number(event.position)
    switch (event.type) {
      case 'FeedbackGiven':
        return [{ ...givenRow(event.data), given_position: position, purged_position: null }]
      case 'FeedbackReplaced':
      case 'FeedbackPurged': {
        const nothing = Object.keys(givenRow({} as FeedbackGiven)).map((column) => [column, null])
        return [
          {
            ...Object.fromEntries(nothing),
            id: event.data.id,
            given_position: null,
            purged_position: position,
          },
        ]
      }
      default:
        return []
    }
  })

const text = (value: Json | undefined): string | null => (value == null ? null : JSON.stringify(value))

const givenRow = (data: FeedbackGiven): Row => ({
  id: data.id,
  weave_ref: data.weave_ref,
  feedback_type: data.feedback_type,
  payload: data.payload === null ? 'null' : text(data.payload),
  creator: data.creator,
  created_at: (data.created_at as string | undefined)?.replace('T', ' ').replace('Z', ''),
  annotation_ref: data.annotation_ref,
  runnable_ref: data.runnable_ref,
  call_ref: data.call_ref,
  trigger_ref: data.trigger_ref,
  queue_id: data.queue_id,
  span_agent_name: data.span_agent_name,
  span_agent_version: data.span_agent_version,
  span_status_code: data.span_status_code,
  span_conversation_id: data.span_conversation_id,
  span_trace_id: data.span_trace_id,
  scorer_trace_id: data.scorer_trace_id,
  scorer_tags: text(data.scorer_tags),
  scorer_tag_reasons: text(data.scorer_tag_reasons),
  scorer_tag_confidences: text(data.scorer_tag_confidences),
  scorer_ratings: text(data.scorer_ratings),
  scorer_rating_reasons: text(data.scorer_rating_reasons),
  scorer_rating_confidences: text(data.scorer_rating_confidences),
  wb_user_id: data.wb_user_id,
})
