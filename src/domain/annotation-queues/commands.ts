import type { Instant } from '../../kernel/codec/instant.js'
import type { QueueContent } from './events.js'

interface OfQueue {
  readonly project_id: string
  readonly id: string
  readonly now: Instant
}

export interface CreateAnnotationQueue extends OfQueue {
  readonly type: 'CreateAnnotationQueue'
  readonly content: QueueContent
  readonly userId: string
}

export interface ChangeAnnotationQueue extends OfQueue {
  readonly type: 'ChangeAnnotationQueue'
  /** Absent fields keep their values. */
  readonly change: Partial<QueueContent>
}

export interface DeleteAnnotationQueue extends OfQueue {
  readonly type: 'DeleteAnnotationQueue'
}

export type AnnotationQueueCommand = CreateAnnotationQueue | ChangeAnnotationQueue | DeleteAnnotationQueue
