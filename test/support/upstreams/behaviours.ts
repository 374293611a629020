import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Behaviour } from './upstream.js'

const HEAD = { id: 'chatcmpl-scripted', created: 1_760_000_000 }

export const usageOf = (prompt: number, completion: number): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})

export const wholeOf = (model: string, content: string, usage: JsonObject | null): JsonObject => ({
  ...HEAD,
  object: 'chat.completion',
  model,
  choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' }],
  ...(usage === null ? {} : { usage }),
})

export const chunkOf = (
  model: string,
  choices: readonly JsonObject[],
  usage: JsonObject | null,
): JsonObject => ({ ...HEAD, object: 'chat.completion.chunk', model, choices, usage })

export const delta = (
  index: number,
  content: JsonObject,
  finish_reason: string | null = null,
): JsonObject => ({ index, delta: content, finish_reason })

const sendJson = (response: ServerResponse, status: number, body: unknown, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export const beginStream = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' })

export const sendEvent = (response: ServerResponse, data: JsonObject | string): boolean =>
  response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)

interface Saying {
  /** Waited before each piece. */
  readonly pauseMs?: number
  /** As many choices, all with the same words. */
  readonly choices?: number
  /** Whether a stream ends with `[DONE]`. */
  readonly says?: 'done' | 'nothing'
}

/** Says these words, whole or in a stream, with usage where a stream is asked for it. */
export const saying =
  (
    words: readonly string[],
    /** Null: it never says what was used. */
    usage: JsonObject | null = usageOf(11, words.length),
    { pauseMs = 0, choices = 1, says = 'done' }: Saying = {},
  ): Behaviour =>
  async (body, response) => {
    const model = body['model'] as string
    if (body['stream'] !== true) {
      if (pauseMs > 0) await sleep(pauseMs)
      sendJson(response, 200, wholeOf(model, words.join(''), usage))
      return
    }
    const places = Array.from({ length: choices }, (_, index) => index)
    beginStream(response)
    const send = async (ofChoices: readonly JsonObject[], used: JsonObject | null = null) => {
      if (pauseMs > 0) await sleep(pauseMs)
      sendEvent(response, chunkOf(model, ofChoices, used))
    }
    await send(places.map((index) => delta(index, { role: 'assistant', content: '' })))
    for (const word of words) for (const index of places) await send([delta(index, { content: word })])
    await send(places.map((index) => delta(index, {}, 'stop')))
    const options = body['stream_options'] as JsonObject | undefined
    if (options?.['include_usage'] === true && usage !== null) await send([], usage)
    if (says === 'done') sendEvent(response, '[DONE]')
    response.end()
  }

/** Answers with a status, and this as the body. */
export const refusing =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (_, response) =>
    sendJson(response, status, body, headers)

export const failingWith = (status: number, message: string, headers = {}): Behaviour =>
  refusing(status, { error: { message, type: 'scripted', param: null, code: 'scripted_code' } }, headers)

/** Takes the request and never answers. */
export const hanging: Behaviour = () => undefined

/** Says that a stream comes, and then nothing. */
export const sendingHead: Behaviour = (_, response) => {
  beginStream(response)
  response.flushHeaders()
}

/** Closes the connection, before any head. */
export const resetting: Behaviour = (_, response) => void response.socket?.destroy()

/** Sends these bytes as the body of a 200. */
export const sendingRaw =
  (type: string, text: string): Behaviour =>
  (_, response) => {
    response.writeHead(200, { 'content-type': type })
    response.end(text)
  }

/** Begins a stream with these words, and then does something else. */
export const beginningWith =
  (words: readonly string[], then: (response: ServerResponse, model: string) => unknown): Behaviour =>
  async (body, response) => {
    const model = body['model'] as string
    beginStream(response)
    sendEvent(response, chunkOf(model, [delta(0, { role: 'assistant', content: '' })], null))
    for (const word of words) sendEvent(response, chunkOf(model, [delta(0, { content: word })], null))
    await sleep(20)
    await then(response, model)
  }

/** What comes behind a stream's beginning. */
export const behind = {
  silence: () => undefined,
  end: (response: ServerResponse) => response.end(),
  cut: (response: ServerResponse) => response.socket?.destroy(),
  malformed: (response: ServerResponse) => sendEvent(response, '{"choices": [{'),
  error: (response: ServerResponse) => sendEvent(response, { error: { message: 'out of memory' } }),
}

/** Streams as many words of so many characters each as its reader takes; `sent` is how many went out so far. */
export const endless = (words: number, characters: number) => {
  const progress = { sent: 0 }
  const behaviour: Behaviour = async (body, response) => {
    const model = body['model'] as string
    const word = sized(characters)
    beginStream(response)
    for (let at = 0; at < words && !response.destroyed; at += 1) {
      progress.sent += 1
      if (!sendEvent(response, chunkOf(model, [delta(0, { content: word })], null))) await drained(response)
    }
    sendEvent(response, chunkOf(model, [delta(0, {}, 'stop')], null))
    sendEvent(response, chunkOf(model, [], usageOf(11, words)))
    response.end('data: [DONE]\n\n')
  }
  return { behaviour, progress }
}

export const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go)
      resolve()
    }
    response.on('drain', go).on('close', go)
  })

const sized = (characters: number): string => 'word '.repeat(Math.ceil(characters / 5)).slice(0, characters)

/** Calls a function of the request's with these arguments, piece by piece where it is a stream. */
export const calling =
  (name: string, args: JsonObject): Behaviour =>
  (body, response) => {
    const model = body['model'] as string
    const text = JSON.stringify(args)
    const call = { id: 'call_1', type: 'function', function: { name, arguments: text } }
    if (body['stream'] !== true) {
      const message = { role: 'assistant', content: null, tool_calls: [call] }
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
      sendJson(response, 200, { ...wholeOf(model, '', usageOf(20, 5)), choices })
      return
    }
    beginStream(response)
    const first = { ...call, index: 0, function: { name, arguments: '' } }
    sendEvent(
      response,
      chunkOf(model, [delta(0, { role: 'assistant', content: null, tool_calls: [first] })], null),
    )
    for (const piece of text.match(/.{1,5}/gs) ?? []) {
      const more = { index: 0, function: { arguments: piece } }
      sendEvent(response, chunkOf(model, [delta(0, { tool_calls: [more] })], null))
    }
    sendEvent(response, chunkOf(model, [delta(0, {}, 'tool_calls')], null))
    sendEvent(response, chunkOf(model, [], usageOf(20, 5)))
    response.end('data: [DONE]\n\n')
  }

/** One behaviour after another, the last for all that follow. */
export const inTurn = (...behaviours: readonly Behaviour[]): Behaviour => {
  let at = 0
  return (...request) => {
    const behaviour = behaviours[Math.min(at, behaviours.length - 1)]!
    at += 1
    return behaviour(...request)
  }
}
