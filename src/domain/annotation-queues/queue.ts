import type * as t from 'io-ts'
import { arrayOf } from '../../kernel/codec/containers.js'
import { instant, type Instant } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { type EventOf, nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'
import { jsonEqual } from '../../kernel/json/equal.js'

const ofQueue = { project_id: projectId, id }

/** What users write of a queue. */
export const queueContent = {
  name: string,
  description: string,
  /** What reviewers fill in: references of annotation columns or scorers. */
  scorer_refs: arrayOf(string),
}

const creation = { created_by: string, created_at: instant }

const queueCreated = open('AnnotationQueueCreated', {
  says: 'An annotation queue was created: calls of a project that people review.',
  required: { ...ofQueue, ...queueContent, ...creation },
})

const queueChanged = open('AnnotationQueueChanged', {
  says: 'An annotation queue was updated. The event has its whole new content.',
  required: { ...ofQueue, ...queueContent, ...creation, updated_at: instant },
})

const queueDeleted = open('AnnotationQueueDeleted', {
  says: 'An annotation queue was deleted. Reads exclude it and its items from this position on.',
  required: { ...ofQueue, deleted_at: instant },
})

export const annotationQueueEvents = {
  AnnotationQueueCreated: queueCreated,
  AnnotationQueueChanged: queueChanged,
  AnnotationQueueDeleted: queueDeleted,
}

export type QueueContent = Pick<t.TypeOf<typeof queueCreated>, keyof typeof queueContent>

/** The content of deleted queues, and of fields that an event was written without. */
export const NO_CONTENT: QueueContent = { name: '', description: '', scorer_refs: [] }

export type AnnotationQueueEvent = EventOf<typeof annotationQueueEvents>

export const annotationQueueStream = (projectId: string, queueId: string): string =>
  `annotation_queue-${projectId}/${queueId}`

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

export interface AnnotationQueue {
  readonly content: QueueContent
  /** The content at creation, to recognise a repeated creation. */
  readonly first: QueueContent
  readonly createdBy: string
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly deletedAt: Instant | null
}

export type AnnotationQueueState = AnnotationQueue | null

const evolve = (state: AnnotationQueueState, event: AnnotationQueueEvent): AnnotationQueueState => {
  switch (event.type) {
    case 'AnnotationQueueCreated': {
      const { created_by: createdBy, created_at: createdAt } = event.data
      const content = contentOf(event.data)
      return { content, first: content, createdBy, createdAt, updatedAt: createdAt, deletedAt: null }
    }
    case 'AnnotationQueueChanged':
      return state && { ...state, content: contentOf(event.data), updatedAt: event.data.updated_at }
    case 'AnnotationQueueDeleted':
      return state && { ...state, deletedAt: event.data.deleted_at }
    default:
      return state
  }
}

const contentOf = (data: QueueContent): QueueContent => {
  const content: QueueContent = { ...NO_CONTENT, ...data }
  const fields = Object.keys(NO_CONTENT) as readonly (keyof QueueContent)[]
  return Object.fromEntries(fields.map((field) => [field, content[field]])) as QueueContent
}

const decide = (
  state: AnnotationQueueState,
  command: AnnotationQueueCommand,
): Decision<AnnotationQueueEvent> => {
  const { project_id, id, now } = command
  if (command.type === 'CreateAnnotationQueue') return create(state, command)
  if (state === null || state.deletedAt !== null) return noSuchQueue
  switch (command.type) {
    case 'ChangeAnnotationQueue': {
      const content = { ...state.content, ...command.change }
      if (jsonEqual(content, state.content)) return nothing
      const creation = { created_by: state.createdBy, created_at: state.createdAt }
      const data = { project_id, id, ...content, ...creation, updated_at: now }
      return { events: [{ type: 'AnnotationQueueChanged', data }] }
    }
    case 'DeleteAnnotationQueue':
      return { events: [{ type: 'AnnotationQueueDeleted', data: { project_id, id, deleted_at: now } }] }
    default:
      return command satisfies never
  }
}

const create = (
  state: AnnotationQueueState,
  { project_id, id, content, userId, now }: CreateAnnotationQueue,
): Decision<AnnotationQueueEvent> => {
  if (state !== null) return state.deletedAt === null && jsonEqual(state.first, content) ? nothing : keyReused
  const data = { project_id, id, ...content, created_by: userId, created_at: now }
  return { events: [{ type: 'AnnotationQueueCreated', data }] }
}

export const NO_SUCH_QUEUE = 'Annotation queue not found in this project.'
const noSuchQueue: Decision<never> = refused('not-found', NO_SUCH_QUEUE)

const keyReused: Decision<never> = refused(
  'conflict',
  'The Idempotency-Key was already used for another annotation queue. Use a new key.',
)

export const annotationQueueDecider: Decider<
  AnnotationQueueState,
  AnnotationQueueCommand,
  AnnotationQueueEvent
> = { initialState: () => null, evolve, decide }
