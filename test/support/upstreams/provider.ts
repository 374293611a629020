import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { beginStream, refusing, sendEvent } from './behaviours.js'
import type { Arrival, Behaviour } from './upstream.js'

/** A provider of chat completions, imitated with the ways in which it differs from the others. */
export interface Provider {
  /** Settings of its upstream, beside name, address and models. */
  readonly upstream?: JsonObject
  /** Its text, and the members of a whole message beside it. */
  readonly message?: JsonObject
  /** The pieces of `message` in a stream. */
  readonly pieces?: readonly JsonObject[]
  readonly toolCall: JsonObject
  /** The pieces of `toolCall` in a stream. */
  readonly toolPieces: readonly JsonObject[]
  /** Members of the body, of each choice, and of each chunk. */
  readonly body?: JsonObject
  readonly choice?: JsonObject
  readonly chunk?: JsonObject
  /** Events before the first chunk, as they are sent. */
  readonly firstEvents?: readonly string[]
  readonly usage: JsonObject
  /** The events that report the usage of a stream, given a chunk without choices. */
  readonly usageEvents?: (chunk: JsonObject) => readonly JsonObject[]
  readonly needsUsageOption?: true
  /** Whether it reports the usage of a stream where clients do not look for it. */
  readonly hidesUsage?: true
  /** The usage of all chunks but the last, if the request has `continuous_usage_stats`. */
  readonly runningUsage?: JsonObject
  /** Events before the usage, given a chunk without choices. */
  readonly late?: (chunk: JsonObject) => readonly JsonObject[]
  /** The `finish_reason` of a stream with a tool call, if it differs from that of a whole answer. */
  readonly toolFinish?: string
  /** What is recorded and charged. */
  readonly used: { readonly prompt: number; readonly completion: number; readonly cached?: number }
  readonly error: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body: unknown
    /** What the client and the call say. */
    readonly says: RegExp
    /** The status that clients get. */
    readonly seen: number
  }
  /** How it reports an error after it has streamed a part of the text. */
  readonly streamError?: { readonly event?: 'error'; readonly body: JsonObject; readonly says: RegExp }
  /** Checks a request as the provider gets it; returns what is wrong. */
  readonly refuses?: (arrival: Pick<Arrival, 'url' | 'headers' | 'body'>) => string | undefined
}

export const TEXT = 'Paris is lovely in May.'
const PIECES = ['Paris ', 'is lovely', ' in May.']

const HEAD = { id: 'chatcmpl-9', created: 1_760_000_000 }

/** The chunks with choices of a stream, without their finish. */
const chunksOf = (provider: Provider, chunk: JsonObject, callsTool: boolean): readonly JsonObject[] => {
  const text = [
    ...(provider.pieces ?? [{ role: 'assistant', content: '' }]),
    ...PIECES.map((content) => ({ content })),
  ]
  return (callsTool ? provider.toolPieces : text).map((delta) => ({
    ...chunk,
    choices: [{ index: 0, delta, finish_reason: null, ...provider.choice }],
  }))
}

const beginAs = ({ firstEvents = [] }: Provider, response: ServerResponse): void => {
  beginStream(response)
  for (const event of firstEvents) response.write(`${event}\n\n`)
}

/** Answers as a provider does: with a text, or where the request has tools with a call of `weather`. */
export const answeringAs =
  (provider: Provider): Behaviour =>
  (body, response, request) => {
    const refused = provider.refuses?.({ url: request.url!, headers: request.headers, body })
    if (refused !== undefined) return refusing(400, { error: { message: refused } })(body, response, request)
    const model = body['model'] as string
    const callsTool = Array.isArray(body['tools'])
    const finish_reason = callsTool ? 'tool_calls' : 'stop'
    if (body['stream'] !== true) {
      const message = callsTool
        ? { role: 'assistant', content: null, tool_calls: [provider.toolCall] }
        : { role: 'assistant', content: TEXT, ...provider.message }
      const choices = [{ index: 0, message, finish_reason, ...provider.choice }]
      const whole = { ...HEAD, object: 'chat.completion', model, choices, usage: provider.usage }
      return refusing(200, { ...whole, ...provider.body })(body, response, request)
    }
    const { include_usage, continuous_usage_stats } = (body['stream_options'] ?? {}) as JsonObject
    const running = continuous_usage_stats === true ? { usage: provider.runningUsage ?? null } : {}
    const chunk = { ...HEAD, object: 'chat.completion.chunk', model, ...provider.chunk, ...running }
    const finish = callsTool ? (provider.toolFinish ?? finish_reason) : finish_reason
    const chunks = [
      ...chunksOf(provider, chunk, callsTool),
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish, ...provider.choice }] },
      ...(provider.late?.(chunk) ?? []),
    ]
    if (include_usage === true || provider.needsUsageOption !== true)
      chunks.push(...(provider.usageEvents?.(chunk) ?? [{ ...chunk, choices: [], usage: provider.usage }]))
    beginAs(provider, response)
    for (const each of chunks) sendEvent(response, each)
    response.end('data: [DONE]\n\n')
  }

/** Refuses as a provider does. */
export const refusingAs = ({ error: { status, headers, body } }: Provider): Behaviour =>
  refusing(status, body, headers)

/** Streams a text as a provider does, and an error in place of its finish. */
export const breakingAs =
  (provider: Provider): Behaviour =>
  async (body, response) => {
    const model = body['model'] as string
    const chunk = { ...HEAD, object: 'chat.completion.chunk', model, ...provider.chunk }
    beginAs(provider, response)
    for (const each of chunksOf(provider, chunk, false)) sendEvent(response, each)
    await sleep(20)
    const { event, body: error } = provider.streamError!
    if (event !== undefined) response.write(`event: ${event}\n`)
    sendEvent(response, error)
    response.end('data: [DONE]\n\n')
  }
