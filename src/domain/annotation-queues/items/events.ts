import type * as t from 'io-ts'
import { arrayOf } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { oneOf, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import type { EventOf } from '../../../kernel/decider.js'
import { id, projectId } from '../../../kernel/ids.js'
import type { Sha256 } from '../../../kernel/ports/sha256.js'
import { uuidOfDigest } from '../../../kernel/uuid-of-digest.js'

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
