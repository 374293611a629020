import type { AnnotationQueueEvent } from '../../domain/annotation-queues/events.js'
import type { AnnotationItemEvent } from '../../domain/annotation-queues/items/events.js'
import { dateTime64 } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'

type Positioned = (AnnotationQueueEvent | AnnotationItemEvent) & Pick<ProjectedEvent, 'position'>
type Row = readonly unknown[]

export const QUEUE_COLUMNS = [
  'project_id',
  'id',
  'position',
  'name',
  'description',
  'scorer_refs',
  'created_by',
  'created_at',
  'updated_at',
  'is_deleted',
]
export const ITEM_COLUMNS = [
  'project_id',
  'queue_id',
  'id',
  'position',
  'call_id',
  'call_op_name',
  'call_trace_id',
  'call_started_at',
  'display_fields',
  'added_by',
  'created_at',
]
export const PROGRESS_COLUMNS = [
  'project_id',
  'queue_id',
  'item_id',
  'position',
  'state',
  'annotator',
  'updated_at',
]

interface QueueRows {
  readonly queues: Row[]
  readonly items: Row[]
  readonly progress: Row[]
}

export const annotationQueuesProjection: Projection = {
  name: 'annotation queues',
  rowsOf: (events) => {
    const rows: QueueRows = { queues: [], items: [], progress: [] }
    for (const event of events as readonly Positioned[]) add(rows, event)
    return [
      { table: 'annotation_queues', columns: QUEUE_COLUMNS, values: rows.queues },
      { table: 'annotation_queue_items', columns: ITEM_COLUMNS, values: rows.items },
      { table: 'annotation_progress', columns: PROGRESS_COLUMNS, values: rows.progress },
    ].filter(({ values }) => values.length > 0)
  },
}

const add = ({ queues, items, progress }: QueueRows, { type, data, position: at }: Positioned): void => {
  const position = String(at)
  switch (type) {
    case 'AnnotationQueueCreated':
    case 'AnnotationQueueChanged': {
      const { project_id, id, name, description, scorer_refs, created_by } = data
      const created = dateTime64(data.created_at)
      const updated = 'updated_at' in data ? dateTime64(data.updated_at) : created
      queues.push([
        project_id,
        id,
        position,
        name,
        description,
        scorer_refs,
        created_by,
        created,
        updated,
        false,
      ])
      return
    }
    case 'AnnotationQueueDeleted': {
      const deleted = dateTime64(data.deleted_at)
      queues.push([data.project_id, data.id, position, '', '', [], '', deleted, deleted, true])
      return
    }
    case 'AnnotationItemAdded': {
      const { project_id, queue_id, id, call_id, call_op_name, call_trace_id } = data
      const call = [call_id, call_op_name, call_trace_id, dateTime64(data.call_started_at)]
      const added = [data.display_fields, data.added_by, dateTime64(data.created_at)]
      items.push([project_id, queue_id, id, position, ...call, ...added])
      return
    }
    case 'AnnotationItemProgressed': {
      const { project_id, queue_id, id, state, annotator } = data
      progress.push([project_id, queue_id, id, position, state, annotator, dateTime64(data.updated_at)])
    }
  }
}
