import { CompletionStream } from '../../domain/completion/stream.js'
import type { Json } from '../../domain/json/json.js'
import { UpstreamFault, type UpstreamAnswer } from '../../domain/ports/upstream-client.js'
import { Failure } from '../failure.js'
import { chatErrorOf } from '../http/chat-error.js'
import { STATUS } from '../http/status.js'
import { readEvents } from './read-events.js'
import { badAnswer, failureOfFault } from './upstream-failure.js'

const DONE = '[DONE]'

export interface Streamed {
  readonly stream: CompletionStream
  /** Why it ended early; null for a complete answer. */
  readonly failure: Failure | null
}

/**
 * An upstream's stream as the client gets it. `onEnd` runs once, before the last event leaves: whoever has seen a
 * complete answer can rely on its being recorded.
 */
export async function* streamed(
  answer: UpstreamAnswer,
  stream: CompletionStream,
  onFirst: () => void,
  onEnd: (streamed: Streamed) => Promise<void>,
): AsyncGenerator<string> {
  let failure: Failure | null = clientGone
  try {
    failure = yield* passedOn(answer, stream, onFirst)
  } finally {
    await onEnd({ stream, failure })
  }
  yield failure === null ? `data: ${DONE}\n\n` : `data: ${JSON.stringify(errorOf(failure))}\n\n`
}

async function* passedOn(
  answer: UpstreamAnswer,
  stream: CompletionStream,
  onFirst: () => void,
): AsyncGenerator<string, Failure | null> {
  try {
    for await (const events of readEvents(answer.body)) {
      onFirst()
      const { text, failure, isDone } = taken(stream, events)
      if (text !== '') yield text
      if (failure !== undefined) return failure
      if (isDone) break
    }
    return stream.isComplete ? null : badAnswer('it ended before it was complete')
  } catch (error) {
    if (error instanceof UpstreamFault) return failureOfFault(error)
    if (error instanceof Failure) return error
    throw error
  }
}

interface Passed {
  readonly text: string
  readonly failure?: Failure
  readonly isDone: boolean
}

const taken = (stream: CompletionStream, events: readonly string[]): Passed => {
  let text = ''
  for (const data of events) {
    if (data === DONE) return { text, isDone: true }
    const shown = stream.take(parsed(data))
    if (shown === 'malformed') return { text, isDone: false, failure: badAnswer('a chunk is malformed') }
    if (shown === 'upstream-error')
      return { text, isDone: false, failure: badAnswer('it broke off with an error') }
    if (shown !== null) text += `data: ${JSON.stringify(shown)}\n\n`
  }
  return { text, isDone: false }
}

const parsed = (data: string): Json => {
  try {
    return JSON.parse(data) as Json
  } catch {
    return null
  }
}

const errorOf = (failure: Failure) => chatErrorOf(failure, STATUS[failure.kind])

export const clientGone = new Failure('bad-request', 'The client closed the connection.')
