import { Readable } from 'node:stream'
import type { CompletionRequest } from '../answer/request.js'
import { AnswerBuilder } from '../answer/answer-builder.js'
import { CompletionStream } from '../answer/stream.js'
import { isUpstreamError } from '../answer/whole-answer.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { prefetchFirst } from '../../kernel/prefetch-first.js'
import type { GatewayServices } from '../gateway.js'
import type { Failure } from '../../application/failure.js'
import { requireType, readError } from './read-answer.js'
import { refusedIn, type Asked } from './asking.js'
import type { Completing, CompletionResponse } from './completing.js'
import { keptAlive, type KeepAlive } from './keep-alive.js'
import { atHand } from './keeping.js'
import { streamed } from './streamed.js'
import { stopping } from './under-way.js'
import { tooSlowReader } from './upstream-failure.js'

/** The events of an upstream's stream as the client gets them. `closeAnswer` ends an answer that its client does not read. */
export const streamOf = async (
  { gateway }: Pick<GatewayServices, 'gateway'>,
  { n, stream_options, given }: CompletionRequest,
  asked: Asked,
  { call, model, promptTokens, startedAt, said, leave }: Completing,
  closeAnswer: () => void,
): Promise<AsyncGenerator<string>> => {
  const { answer, target } = asked
  await requireStream(asked)
  const options = given['stream_options']
  const answerBuilder = call.keepsContent ? new AnswerBuilder(model) : null
  const kept = answerBuilder && gateway.keeping(answerBuilder)
  const stream = new CompletionStream(
    {
      publicModel: model,
      n,
      includeUsage: stream_options?.include_usage === true,
      hidesRunningUsage:
        target.upstream.content.continuous_usage_stats &&
        !(isJsonObject(options) && options['continuous_usage_stats'] === true),
      promptTokens,
    },
    answerBuilder,
  )
  let contentAt: number | undefined
  let reported: Failure | undefined
  const reader = unreadFor(Math.min(MOST_UNREAD_MS, target.upstream.content.timeouts.total_ms))
  const events = streamed(
    { answer, errorIn: (error) => (reported = asked.errorIn(error)) },
    stream,
    leave.signal,
    () => (contentAt ??= performance.now()),
    () => kept?.makeRoom(),
    async (failure) => {
      reader.over()
      const { metered } = stream
      // An error before anything else is a refusal.
      const isRefused = failure !== null && failure === reported && metered.metering === 'unknown'
      await call.end({
        output: kept === null ? atHand(null) : () => kept.output(failure === stopping),
        metered,
        failure,
        said: {
          ...said(),
          ...(isRefused && !asked.isOwed ? { owed: false } : {}),
          ...(contentAt === undefined ? {} : { time_to_first_token_ms: Math.round(contentAt - startedAt) }),
        },
      })
      leave.over()
    },
  )
  void answer.ended.then(() =>
    reader.awaited(() => {
      leave.end(tooSlowReader)
      closeAnswer()
    }),
  )
  return events
}

/** An upstream that was asked for a stream may report an error as JSON with status 200. */
const requireStream = async (asked: Asked): Promise<void> => {
  try {
    requireType(asked.answer, 'stream')
  } catch (refusal) {
    const body = await readError(asked.answer.body)
    throw body !== undefined && isUpstreamError(body) ? refusedIn(asked, body) : refusal
  }
}

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
