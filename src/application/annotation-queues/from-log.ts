import { annotationQueueDecider, type AnnotationQueue } from '../../domain/annotation-queues/decider.js'
import { annotationQueueStream } from '../../domain/annotation-queues/events.js'
import { annotationItemDecider, type AnnotationItem } from '../../domain/annotation-queues/items/decider.js'
import { annotationItemStream } from '../../domain/annotation-queues/items/events.js'
import { load } from '../../kernel/execute.js'
import { id } from '../../kernel/ids.js'
import type { Ports } from '../../kernel/ports/ports.js'

type Log = Pick<Ports, 'eventStore'>

/** A queue as of the end of the log, so that an acknowledged write is seen without a projection. */
export const liveQueue = async (
  log: Log,
  projectId: string,
  queueId: string,
): Promise<AnnotationQueue | undefined> => {
  if (!id.is(queueId)) return undefined
  const { state } = await load(log, annotationQueueDecider, annotationQueueStream(projectId, queueId))
  return state === null || state.deletedAt !== null ? undefined : state
}

/** An item of a queue as of the end of the log. */
export const itemOfQueue = async (
  log: Log,
  projectId: string,
  queueId: string,
  itemId: string,
): Promise<AnnotationItem | undefined> => {
  if (!id.is(itemId)) return undefined
  const { state } = await load(log, annotationItemDecider, annotationItemStream(projectId, itemId))
  return state?.added.queue_id === queueId ? state : undefined
}
