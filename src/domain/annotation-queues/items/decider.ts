import type { Instant } from '../../../kernel/codec/instant.js'
import { nothing, refused, type Decider, type Decision } from '../../../kernel/decider.js'
import type { AnnotationItemCommand, ProgressAnnotationItem } from './commands.js'
import type { AnnotationItemAdded, AnnotationItemEvent, ProgressState } from './events.js'

export type AnnotationState = 'unstarted' | ProgressState

export interface AnnotationItem {
  readonly added: AnnotationItemAdded
  readonly state: AnnotationState
  /** Who set the state; null while it is unstarted. */
  readonly annotator: string | null
  readonly updatedAt: Instant
}

export type AnnotationItemState = AnnotationItem | null

const evolve = (item: AnnotationItemState, event: AnnotationItemEvent): AnnotationItemState => {
  switch (event.type) {
    case 'AnnotationItemAdded':
      return { added: event.data, state: 'unstarted', annotator: null, updatedAt: event.data.created_at }
    case 'AnnotationItemProgressed': {
      const { state, annotator, updated_at: updatedAt } = event.data
      return item && { ...item, state, annotator, updatedAt }
    }
    default:
      return item
  }
}

const decide = (item: AnnotationItemState, command: AnnotationItemCommand): Decision<AnnotationItemEvent> => {
  switch (command.type) {
    case 'AddAnnotationItem':
      return item === null ? { events: [{ type: 'AnnotationItemAdded', data: command.item }] } : nothing
    case 'ProgressAnnotationItem':
      return progress(item, command)
    default:
      return command satisfies never
  }
}

const NEXT: Readonly<Record<AnnotationState, readonly ProgressState[]>> = {
  unstarted: ['in_progress', 'completed', 'skipped'],
  in_progress: ['completed', 'skipped'],
  completed: [],
  skipped: [],
}

const progress = (
  item: AnnotationItemState,
  { queue_id, state, userId, now }: ProgressAnnotationItem,
): Decision<AnnotationItemEvent> => {
  if (item?.added.queue_id !== queue_id) return refused('not-found', NO_SUCH_ITEM)
  if (state === item.state) return nothing
  if (!NEXT[item.state].includes(state))
    return refused('conflict', `Invalid state transition of the item: it is ${item.state}, not ${state}.`)
  const { project_id, id } = item.added
  const data = { project_id, queue_id, id, state, annotator: userId, updated_at: now }
  return { events: [{ type: 'AnnotationItemProgressed', data }] }
}

export const NO_SUCH_ITEM = 'Item not found in this annotation queue.'

export const annotationItemDecider: Decider<AnnotationItemState, AnnotationItemCommand, AnnotationItemEvent> =
  { initialState: () => null, evolve, decide }
