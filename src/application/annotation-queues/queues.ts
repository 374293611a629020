import {
  annotationQueueDecider,
  annotationQueueStream,
  NO_SUCH_QUEUE,
  type AnnotationQueue,
  type AnnotationQueueCommand,
  type QueueContent,
} from '../../domain/annotation-queues/queue.js'
import { commandsOf, load } from '../../kernel/execute.js'
import { id } from '../../kernel/ids.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { Failure, invalidField } from '../failure.js'

const MAX_SCORERS = 100

export const noSuchQueue = (): Failure => new Failure('not-found', NO_SUCH_QUEUE)

/** A queue as of the end of the log, so that an acknowledged write is seen without a projection. */
export const liveQueue = async (
  ports: Pick<Ports, 'eventStore'>,
  projectId: string,
  queueId: string,
): Promise<AnnotationQueue | undefined> => {
  if (!id.is(queueId)) return undefined
  const { state } = await load(ports, annotationQueueDecider, annotationQueueStream(projectId, queueId))
  return state === null || state.deletedAt !== null ? undefined : state
}

const requireValid = ({ name, scorer_refs = [] }: Partial<QueueContent>): void => {
  if (name === '') throw invalidField(['name'], 'string_too_short', 'String should have at least 1 character')
  if (scorer_refs.length > MAX_SCORERS)
    throw invalidField(['scorer_refs'], 'too_long', `List should have at most ${MAX_SCORERS} items`)
}

const commands = commandsOf(annotationQueueDecider, ({ project_id, id }) =>
  annotationQueueStream(project_id, id),
)

/** Creates, changes or deletes a queue. */
export const writeQueue = (ports: Pick<Ports, 'eventStore' | 'ids'>, command: AnnotationQueueCommand) => {
  if (command.type === 'CreateAnnotationQueue') requireValid(command.content)
  if (command.type === 'ChangeAnnotationQueue') requireValid(command.change)
  return commands(ports, command)
}
