import {
  annotationQueueDecider,
  type AnnotationQueue,
  annotationQueueStream,
} from '../../domain/annotation-queues/queue.js'
import {
  annotationItemDecider,
  type AnnotationItem,
  annotationItemStream,
} from '../../domain/annotation-queues/item.js'
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
