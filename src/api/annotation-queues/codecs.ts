import { queueContent } from '../../domain/annotation-queues/queue.js'
import { arrayOf, eachNullable, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import { projectId } from '../../kernel/ids.js'
import { ITEM_FILTERS } from '../../projections/annotation-queues/queries.js'
import { range, sortBy } from '../server/sorted-range.js'

/** Fields of a queue as clients write them. */
const written = {
  name: textUpToBytes(1024),
  description: textUpToBytes(65_536),
  scorer_refs: arrayOf(textUpToBytes(8192)),
}
const { description, ...required } = written

export const queueCreate = closed('AnnotationQueueCreateRequest', {
  required: { project_id: projectId, ...required },
  optional: { description: withDefault(description, '', true), wb_user_id: nullable(string) },
})

export const queueChange = closed('AnnotationQueueUpdateRequest', {
  says: 'Absent fields keep their values.',
  required: { project_id: projectId },
  optional: { ...eachNullable(written), wb_user_id: nullable(string) },
})

export const queueQuery = closed('AnnotationQueuesQueryRequest', {
  required: { project_id: projectId },
  optional: { name: nullable(string), sort_by: sortBy, ...range },
})

export const queueStats = closed('AnnotationQueuesStatsRequest', {
  required: { project_id: projectId, queue_ids: arrayOf(string) },
})

export const queueCodec = open('AnnotationQueue', {
  required: {
    id: string,
    project_id: projectId,
    ...queueContent,
    created_at: instant,
    created_by: string,
    updated_at: instant,
  },
  optional: { deleted_at: nullable(instant) },
})
export const oneQueue = open('AnnotationQueueResponse', { required: { queue: queueCodec } })

export const statsJson = open('AnnotationQueuesStatsResponse', {
  required: {
    stats: arrayOf(
      open('AnnotationQueueStats', {
        required: { queue_id: string, total_items: wholeNumber, completed_items: wholeNumber },
      }),
    ),
    /** The requested ids that are no queues of the project. */
    not_found: arrayOf(string),
  },
})

export const ofProject = open('AnnotationQueueQuery', { required: { project_id: projectId } })

export const itemsAdd = closed('AnnotationItemsAddRequest', {
  required: {
    project_id: projectId,
    call_ids: arrayOf(string),
    display_fields: arrayOf(textUpToBytes(1024)),
  },
  optional: { wb_user_id: nullable(string) },
})

const ITEM_STATES = ['unstarted', 'in_progress', 'completed', 'skipped'] as const

export const itemsQuery = closed('AnnotationItemsQueryRequest', {
  required: { project_id: projectId },
  optional: {
    filter: nullable(
      closed('AnnotationItemsFilter', {
        optional: {
          ...(Object.fromEntries(ITEM_FILTERS.map((name) => [name, nullable(string)])) as Record<
            (typeof ITEM_FILTERS)[number],
            ReturnType<typeof nullable<string, string>>
          >),
          annotation_states: nullable(arrayOf(oneOf(...ITEM_STATES))),
        },
      }),
    ),
    sort_by: sortBy,
    ...range,
    include_position: withDefault(boolean, false, true),
  },
})

export const itemProgress = closed('AnnotationItemProgressRequest', {
  required: { project_id: projectId, annotation_state: string },
  optional: { wb_user_id: nullable(string) },
})

export const itemCodec = open('AnnotationItem', {
  required: {
    id: string,
    project_id: projectId,
    queue_id: string,
    call_id: string,
    call_op_name: string,
    call_trace_id: string,
    call_started_at: instant,
    display_fields: arrayOf(string),
    annotation_state: oneOf(...ITEM_STATES),
    added_by: string,
    created_by: string,
    created_at: instant,
    updated_at: instant,
  },
  optional: {
    call_ended_at: nullable(instant),
    annotator_user_id: nullable(string),
    position_in_queue: nullable(wholeNumber),
    deleted_at: nullable(instant),
  },
})
