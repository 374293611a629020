import { Readable } from 'node:stream'
import type { CompletionRequest } from '../../../domain/completion/request.js'
import { AnswerBuilder } from '../../../domain/completion/answer-builder.js'
import { CompletionStream } from '../../../domain/completion/stream.js'
import { isJsonObject } from '../../../domain/json/json.js'
import { prefetchFirst } from '../../http/prefetch-first.js'
import type { Inference } from '../inference.js'
import type { RouteResponse } from '../../route.js'
import { requireType } from './answer-type.js'
import type { Asked } from './asking.js'
import type { Completing } from './completing.js'
import { atHand } from './output.js'
import { streamed } from './streamed.js'
import { stopping } from './under-way.js'
import { tooSlowReader } from './upstream-failure.js'

/**
 * An upstream's stream as the client gets it. The head goes out with the first event: an upstream that fails before that
 * is still told with a status, which clients try again after.
 */
export const streamOf = async (
  { inference }: Pick<Inference, 'inference'>,
  { n, stream_options, given }: CompletionRequest,
  { answer, target }: Asked,
  { call, model, promptTokens, startedAt, said, leave }: Completing,
): Promise<RouteResponse> => {
  requireType(answer, 'stream')
  const options = given['stream_options']
  const answerBuilder = call.keepsContent ? new AnswerBuilder(model) : null
  const kept = answerBuilder && inference.keeping(answerBuilder)
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
  const reader = unreadFor(Math.min(MOST_UNREAD_MS, target.upstream.content.timeouts.total_ms))
  const events = streamed(
    answer,
    stream,
    leave.signal,
    () => (contentAt ??= performance.now()),
    () => kept?.makeRoom(),
    async (failure) => {
      reader.over()
      await call.end({
        output: kept === null ? atHand(null) : () => kept.output(failure === stopping),
        metered: stream.metered,
        failure,
        said: {
          ...said(),
          ...(contentAt === undefined ? {} : { time_to_first_token_ms: Math.round(contentAt - startedAt) }),
        },
      })
      leave.over()
    },
  )
  const body = Readable.from(await prefetchFirst(events), { highWaterMark: 1 })
  void answer.ended.then(() =>
    reader.awaited(() => {
      leave.end(tooSlowReader)
      body.destroy()
    }),
  )
  return {
    body,
    type: 'text/event-stream; charset=utf-8',
    headers: { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    position: call.position,
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
