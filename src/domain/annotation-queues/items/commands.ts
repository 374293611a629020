import type { Instant } from '../../../kernel/codec/instant.js'
import type { AnnotationItemAdded, ProgressState } from './events.js'

export interface AddAnnotationItem {
  readonly type: 'AddAnnotationItem'
  readonly item: AnnotationItemAdded
}

export interface ProgressAnnotationItem {
  readonly type: 'ProgressAnnotationItem'
  readonly queue_id: string
  readonly state: ProgressState
  readonly userId: string
  readonly now: Instant
}

export type AnnotationItemCommand = AddAnnotationItem | ProgressAnnotationItem
