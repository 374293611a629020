import { Readable } from 'node:stream'
import { jsonTextInSteps } from '../../kernel/json/text-in-steps.js'
import type { EndpointRequest } from '../endpoints/endpoint.js'
import type { CachedAnswer } from './answer-cache.js'
import type { CallRecord } from './call-record.js'
import type { CompletionResponse } from './completion-context.js'

/** The response of an answer that was given before. Its call costs nothing, and says what it saved. */
export const cachedResponse = async (
  { endpoint, given, stream }: EndpointRequest,
  cached: CachedAnswer,
  publicModel: string,
  call: CallRecord,
): Promise<CompletionResponse> => {
  const { body, metered, cost, callId, at } = cached
  const saved = { saved_tokens: metered.usage?.total_tokens ?? null, saved_cost: cost ?? null }
  const position = await call.finish({
    output: body,
    metered: { metering: 'reported', usage: null },
    failure: null,
    summary: { cache: { call_id: callId, age_ms: Math.round(performance.now() - at), ...saved } },
    saved: { cache_hits: 1, ...saved },
  })
  const headers = { 'tallytree-cache': 'hit', 'tallytree-cost': '0' }
  if (!stream) {
    const text = cached.text ?? (await jsonTextInSteps(body))
    return { body: text, type: 'application/json', headers, position }
  }
  const expected = { promptTokens: 0, mostTokens: Infinity }
  const options = { given, publicModel, expected, room: null, hidesRunningUsage: false }
  const answer = endpoint.answer(options)
  const { text } = await answer.takeWhole(body)
  return {
    body: Readable.from([text + answer.end]),
    type: 'text/event-stream; charset=utf-8',
    headers: { ...headers, 'x-accel-buffering': 'no' },
    position,
  }
}
