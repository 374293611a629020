import type * as t from 'io-ts'
import { arrayOf } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'

const ofQueue = { project_id: projectId, id }

const content = {
  name: string,
  description: string,
  /** What reviewers fill in: references of annotation columns or scorers. */
  scorer_refs: arrayOf(string),
}

const creation = { created_by: string, created_at: instant }

const queueCreated = open('AnnotationQueueCreated', {
  says: 'An annotation queue was created: calls of a project that people review.',
  required: { ...ofQueue, ...content, ...creation },
})

const queueChanged = open('AnnotationQueueChanged', {
  says: 'An annotation queue was updated. The event has its whole new content.',
  required: { ...ofQueue, ...content, ...creation, updated_at: instant },
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

export type QueueContent = Pick<t.TypeOf<typeof queueCreated>, keyof typeof content>
export type AnnotationQueueEvent = EventOf<typeof annotationQueueEvents>

export const annotationQueueStream = (projectId: string, queueId: string): string =>
  `annotation_queue-${projectId}/${queueId}`
