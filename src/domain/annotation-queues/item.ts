import type * as t from 'io-ts'
import { arrayOf } from '../../kernel/codec/containers.js'
import { instant, type Instant } from '../../kernel/codec/instant.js'
import { oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { type EventOf, nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { uuidOfDigest } from '../../kernel/uuid-of-digest.js'

const ofItem = { project_id: projectId, queue_id: id, id }

/** The states that a reviewer sets; an item begins as `unstarted`. */
export const progressState = oneOf('in_progress', 'completed', 'skipped')
export type ProgressState = t.TypeOf<typeof progressState>

const itemAdded = open('AnnotationItemAdded', {
  says: 'A call was added to an annotation queue.',
  required: {
    ...ofItem,
    call_id: id,
    /** Facts of the start of the call, which never change. */
    call_op_name: string,
    call_trace_id: string,
    call_started_at: instant,
    /** Paths in the call that reviewers see. */
    display_fields: arrayOf(string),
    added_by: string,
    created_at: instant,
  },
})

const itemProgressed = open('AnnotationItemProgressed', {
  says: 'A reviewer began, completed or skipped an item of an annotation queue.',
  required: { ...ofItem, state: progressState, annotator: string, updated_at: instant },
})

export const annotationItemEvents = {
  AnnotationItemAdded: itemAdded,
  AnnotationItemProgressed: itemProgressed,
}

export type AnnotationItemAdded = t.TypeOf<typeof itemAdded>
export type AnnotationItemEvent = EventOf<typeof annotationItemEvents>

/** A call is in a queue once. */
export const itemIdOf = (sha256: Sha256, projectId: string, queueId: string, callId: string): string =>
  uuidOfDigest(sha256(JSON.stringify(['annotation_item', projectId, queueId, callId])))

/** A stream an item, so that adding to a queue of many items costs the same as to an empty one. */
export const annotationItemStream = (projectId: string, itemId: string): string =>
  `annotation_item-${projectId}/${itemId}`

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
