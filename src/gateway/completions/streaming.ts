import { Readable } from 'node:stream'
import type { CompletionRequest } from '../answer/request.js'
import type { AnswerRoom } from '../answer/answer-room.js'
import { AnswerFold } from '../answer/fold.js'
import { CompletionStream } from '../answer/stream.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { prefetchFirst } from '../../kernel/prefetch-first.js'
import type { Gateway } from '../gateway.js'
import type { Answering, Asked } from './asking.js'
import type { Completing, CompletionResponse } from './completing.js'
import { keptAlive, type KeepAlive } from './keep-alive.js'
import { openStream, streamed, type OpenedStream } from './streamed.js'
import { tooSlowReader } from './upstream-failure.js'

/** A stream whose answer has begun, and what it is recorded as. */
export interface BegunStream {
  readonly opened: OpenedStream
  readonly fold: AnswerFold | null
  readonly room: AnswerRoom
  /** By the clock of `performance`, in milliseconds; undefined before there is content. */
  readonly contentAt: () => number | undefined
}

/**
 * Reads the beginning of an upstream's stream.
 *
 * @throws Failure or UpstreamFault if there is no completion
 */
export const beginStream = async (
  { answerRoom }: Pick<Gateway, 'answerRoom'>,
  { n, stream_options, given }: CompletionRequest,
  answering: Answering,
  { promptTokens, isRecorded }: { readonly promptTokens: number; readonly isRecorded: boolean },
): Promise<BegunStream> => {
  const { target } = answering
  const publicModel = target.model.id
  const options = given['stream_options']
  const room = answerRoom()
  let contentAt: number | undefined
  const fold = isRecorded ? new AnswerFold(publicModel, room) : null
  const stream = new CompletionStream(
    {
      publicModel,
      n,
      includeUsage: stream_options?.include_usage === true,
      hidesRunningUsage:
        target.upstream.content.continuous_usage_stats &&
        !(isJsonObject(options) && options['continuous_usage_stats'] === true),
      promptTokens,
    },
    fold,
    () => (contentAt = performance.now()),
  )
  try {
    return { opened: await openStream(answering, stream), fold, room, contentAt: () => contentAt }
  } catch (error) {
    room.release()
    throw error
  }
}

/** The events of a stream as the client gets them. `closeAnswer` ends an answer that its client does not read. */
export const streamOf = (
  { begun: { opened, fold, room, contentAt }, answer, target }: Asked<BegunStream>,
  { call, startedAt, said, leave }: Completing,
  closeAnswer: () => void,
): AsyncGenerator<string> => {
  const { stream } = opened
  const reader = unreadFor(Math.min(MOST_UNREAD_MS, target.upstream.content.timeouts.total_ms))
  const events = streamed(opened, answer, leave.signal, async (failure) => {
    reader.over()
    await call.end({
      output: fold?.whole() ?? null,
      metered: stream.metered,
      failure,
      said: { ...said(), ...firstToken(contentAt(), startedAt) },
    })
    room.release()
    leave.over()
  })
  void answer.ended.then(() =>
    reader.awaited(() => {
      leave.end(tooSlowReader)
      closeAnswer()
    }),
  )
  return events
}

const firstToken = (contentAt: number | undefined, startedAt: number) =>
  contentAt === undefined ? {} : { time_to_first_token_ms: Math.round(contentAt - startedAt) }

/**
 * A streamed answer. Its head waits for the first event, so that an upstream that fails before is answered with a
 * status, after which clients retry; but no longer than proxies wait.
 */
export const streamAnswer = async (
  open: (closeAnswer: () => void) => Promise<AsyncIterable<string>>,
  keepAlive: KeepAlive,
  position: CompletionResponse['position'],
): Promise<CompletionResponse> => {
  const sent: { body?: Readable } = {}
  const events = keptAlive(
    open(() => sent.body?.destroy()),
    keepAlive,
  )
  const body = Readable.from(await prefetchFirst(events), { highWaterMark: 1 })
  sent.body = body
  return {
    body,
    type: 'text/event-stream; charset=utf-8',
    headers: { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    position,
  }
}

/** What is left of an answer whose upstream is done with it has to be read within this time. */
const MOST_UNREAD_MS = 30_000

/** The time that a client has for what is left of its answer, from when it is awaited until the answer is over. */
const unreadFor = (ms: number) => {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  return {
    awaited: (late: () => void) => {
      if (!isOver) timer = setTimeout(late, ms)
    },
    over: () => {
      isOver = true
      clearTimeout(timer)
    },
  }
}
