import { Readable } from 'node:stream'
import type { CompletionRequest } from '../../domain/completion/request.js'
import { CompletionStream } from '../../domain/completion/stream.js'
import { isJsonObject } from '../../domain/json/json.js'
import { begun } from '../http/begun.js'
import type { Answer } from '../route.js'
import { requireType } from './answer-type.js'
import type { Asked } from './asking.js'
import type { Completing } from './completing.js'
import { streamed } from './streamed.js'

/**
 * An upstream's stream as the client gets it. The head goes out with the first event: an upstream that fails before that
 * is still told with a status, which clients try again after.
 */
export const streamOf = async (
  { n, stream_options, given }: CompletionRequest,
  { answer, target }: Asked,
  { call, model, promptBytes, startedAt, said, leave }: Completing,
): Promise<Answer> => {
  requireType(answer, 'stream')
  const options = given['stream_options']
  const stream = new CompletionStream({
    publicModel: model,
    n,
    includeUsage: stream_options?.include_usage === true,
    hidesRunningUsage:
      target.upstream.content.continuous_usage_stats &&
      !(isJsonObject(options) && options['continuous_usage_stats'] === true),
    promptBytes,
  })
  let contentAt: number | undefined
  const events = streamed(
    answer,
    stream,
    leave.signal,
    () => (contentAt ??= performance.now()),
    async (failure) => {
      await call.end({
        output: stream.answer.whole(model),
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
  return {
    body: Readable.from(await begun(events), { highWaterMark: 1 }),
    type: 'text/event-stream; charset=utf-8',
    headers: { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    position: call.position,
  }
}
