import { annotationQueueEvents, NO_CONTENT } from '../../domain/annotation-queues/queue.js'
import { annotationItemEvents } from '../../domain/annotation-queues/item.js'
import { projectionOf } from '../projection.js'
import type { RowOf } from '../table.js'
import { ITEMS, PROGRESS, QUEUES } from './tables.js'

export const annotationQueuesProjection = projectionOf(
  'annotation queues',
  { ...annotationQueueEvents, ...annotationItemEvents },
  (events) => {
    const queues: RowOf<typeof QUEUES>[] = []
    const items: RowOf<typeof ITEMS>[] = []
    const progress: RowOf<typeof PROGRESS>[] = []
    for (const { type, data, position } of events)
      switch (type) {
        case 'AnnotationQueueCreated':
          queues.push({ ...NO_CONTENT, ...data, position, updated_at: data.created_at, is_deleted: false })
          break
        case 'AnnotationQueueChanged':
          queues.push({ ...NO_CONTENT, ...data, position, is_deleted: false })
          break
        case 'AnnotationQueueDeleted': {
          const { deleted_at: at } = data
          queues.push({
            ...data,
            ...NO_CONTENT,
            created_by: '',
            position,
            created_at: at,
            updated_at: at,
            is_deleted: true,
          })
          break
        }
        case 'AnnotationItemAdded':
          items.push({ ...data, position })
          break
        case 'AnnotationItemProgressed':
          progress.push({ ...data, item_id: data.id, position })
      }
    return [QUEUES.rows(queues), ITEMS.rows(items), PROGRESS.rows(progress)]
  },
)
