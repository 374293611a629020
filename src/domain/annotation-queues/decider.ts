import type { Instant } from '../../kernel/codec/instant.js'
import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { AnnotationQueueCommand, CreateAnnotationQueue } from './commands.js'
import type { AnnotationQueueEvent, QueueContent } from './events.js'

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

const contentOf = ({ name, description, scorer_refs }: QueueContent): QueueContent => ({
  name,
  description,
  scorer_refs,
})

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
