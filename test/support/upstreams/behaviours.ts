import type { JsonObject } from '../../../src/domain/json/json.js'
import type { Behaviour } from './upstream.js'

const HEAD = { id: 'chatcmpl-scripted', created: 1_760_000_000 }

export const usageOf = (prompt: number, completion: number): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})

export const wholeOf = (model: string, content: string, usage: JsonObject): JsonObject => ({
  ...HEAD,
  object: 'chat.completion',
  model,
  choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' }],
  usage,
})

export const chunkOf = (
  model: string,
  choices: readonly JsonObject[],
  usage: JsonObject | null,
): JsonObject => ({
  ...HEAD,
  object: 'chat.completion.chunk',
  model,
  choices,
  usage,
})

/** Says these words, whole or in a stream, with usage where a stream is asked for it. */
export const saying =
  (words: readonly string[], usage = usageOf(11, words.length)): Behaviour =>
  (body, response) => {
    const model = body['model'] as string
    if (body['stream'] !== true) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(wholeOf(model, words.join(''), usage)))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (chunk: JsonObject) => response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    send(chunkOf(model, [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], null))
    for (const word of words)
      send(chunkOf(model, [{ index: 0, delta: { content: word }, finish_reason: null }], null))
    send(chunkOf(model, [{ index: 0, delta: {}, finish_reason: 'stop' }], null))
    const options = body['stream_options'] as JsonObject | undefined
    if (options?.['include_usage'] === true) send(chunkOf(model, [], usage))
    response.end('data: [DONE]\n\n')
  }
