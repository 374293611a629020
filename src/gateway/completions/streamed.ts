import { within } from '../../kernel/within.js'
import type { EventSourceMessage } from 'eventsource-parser'
import type { CompletionStream } from '../answer/stream.js'
import type { Failure } from '../../application/failure.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Asked } from './asking.js'
import { parsed, readEvents } from './read-answer.js'
import { clientGone } from './under-way.js'
import { badAnswer, failureIn } from './upstream-failure.js'

const DONE = '[DONE]'

/** How a stream ended: with the failure that ended it early, or null for a complete answer. */
export type OnEnd = (failure: Failure | null) => Promise<void>

/**
 * An upstream's stream as the client gets it. `onEnd` runs once, before the last event leaves: whoever has seen a complete
 * answer can rely on its being recorded.
 *
 * @throws Failure for a stream that is not complete
 */
export async function* streamed(
  asked: Pick<Asked, 'answer' | 'errorIn'>,
  stream: CompletionStream,
  signal: AbortSignal,
  onContent: () => void,
  makeRoom: () => Promise<void> | undefined,
  onEnd: OnEnd,
): AsyncGenerator<string> {
  const progress = { onContent, makeRoom }
  let failure: Failure | null | undefined
  try {
    failure = yield* passedOn(asked, stream, signal, progress)
  } finally {
    // Left in the middle by its reader, unless it was ended before.
    if (failure === undefined) failure = failureIn(undefined, signal) ?? clientGone
    await onEnd(failure)
  }
  if (failure !== null) throw failure
  yield `data: ${DONE}\n\n`
}

interface Progress {
  readonly onContent: () => void
  readonly makeRoom: () => Promise<void> | undefined
}

async function* passedOn(
  { answer, errorIn }: Pick<Asked, 'answer' | 'errorIn'>,
  stream: CompletionStream,
  signal: AbortSignal,
  progress: Progress,
): AsyncGenerator<string, Failure | null> {
  try {
    for await (const events of readEvents(answer.body)) {
      const { text, failure } = taken(stream, events, errorIn)
      if (stream.hasContent) progress.onContent()
      if (text !== '') yield text
      if (failure === null) await soon(answer.ended)
      if (failure !== undefined) return failure
      await progress.makeRoom()
    }
    return stream.isComplete ? null : badAnswer('the stream ended without a finish_reason')
  } catch (error) {
    const failure = failureIn(error, signal)
    if (failure === undefined) throw error
    return stream.isComplete && !signal.aborted ? null : failure
  }
}

/** Whoever says that nothing more comes ends the answer, too: a connection that is left before that is lost. */
const END_WITHIN_MS = 50

const soon = (ended: Promise<unknown>): Promise<unknown> => within(END_WITHIN_MS, ended)

interface Passed {
  readonly text: string
  /** Null where the answer is complete, undefined where more may come. */
  readonly failure?: Failure | null
}

const taken = (
  stream: CompletionStream,
  events: readonly EventSourceMessage[],
  errorIn: Asked['errorIn'],
): Passed => {
  let text = ''
  for (const { event, data } of events) {
    if (data.trim() === DONE) {
      stream.done()
      return {
        text,
        failure: stream.isComplete ? null : badAnswer('the stream ended without a finish_reason'),
      }
    }
    const chunk = parsed(data)
    if (event === 'error') return { text, failure: errorIn(chunk ?? data) }
    const shown = stream.take(chunk ?? null)
    if (shown === 'malformed') return { text, failure: badAnswer('a chunk is malformed') }
    if (shown === 'upstream-error') return { text, failure: errorIn(chunk ?? null) }
    if (shown !== null) text += `data: ${jsonText(shown)}\n\n`
  }
  return { text }
}
