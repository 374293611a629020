import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import { ROOT } from '../compiled.js'
import type { Behaviour } from './upstream.js'

/** What the record of a sample has, as far as the sample says. */
export interface ExpectedRecord {
  readonly op: string
  readonly usage?: JsonObject
  readonly usage_seen?: JsonObject
  readonly cache_written_1h?: number
  readonly reasoning_tokens?: number
  readonly text?: string
  readonly tools?: readonly JsonObject[]
  /** Types of the parts of a message, or of the items of a response. */
  readonly blocks?: readonly string[]
  readonly output_types?: readonly string[]
  readonly signature?: string
  readonly encrypted_content?: string
  readonly finish?: string
  readonly metering?: string
  /** Part of the exception. */
  readonly exception?: string
  readonly status?: number
}

/** A request and the answer of an upstream. */
export interface Sample {
  readonly name: string
  readonly path: string
  readonly request: JsonObject
  /** As sent. */
  readonly answer: Buffer
  readonly isStream: boolean
  readonly expected: ExpectedRecord
}

const FOLDER = join(ROOT, 'test/samples/gateway')

const PATHS: Readonly<Record<string, string>> = {
  responses: '/v1/responses',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
  completions: '/v1/completions',
  chat: '/v1/chat/completions',
}

const read = (file: string): Buffer => readFileSync(join(FOLDER, file))
const jsonIn = (file: string): JsonObject => JSON.parse(read(file).toString()) as JsonObject

const recordsBySample = jsonIn('expected.json')

const expectedOf = (name: string): ExpectedRecord => {
  const { as, ...expected } = recordsBySample[name] as JsonObject
  return typeof as === 'string' ? expectedOf(as) : (expected as unknown as ExpectedRecord)
}

export const SAMPLES: readonly Sample[] = Object.keys(recordsBySample).map((name) => {
  const isStream = name.endsWith('-stream')
  return {
    name,
    path: PATHS[name.split('-')[1]!]!,
    request: jsonIn(`${name}.request.json`),
    answer: read(`${name}.response.${isStream ? 'sse' : 'json'}`),
    isStream,
    expected: expectedOf(name),
  }
})

export const sampleOf = (number: string): Sample => SAMPLES.find(({ name }) => name.startsWith(`${number}-`))!

export const EVENTS = 'text/event-stream'
export const JSON_TYPE = 'application/json'

/** Answers with these bytes in pieces of the given sizes, in turn. */
export const sendingPieces =
  (type: string, bytes: Buffer | string, sizes: readonly number[] = [Infinity], status = 200): Behaviour =>
  async (_, response) => {
    const rest = Buffer.from(bytes)
    response.writeHead(status, { 'content-type': type })
    for (let at = 0, piece = 0; at < rest.length; piece += 1) {
      const to = at + sizes[piece % sizes.length]!
      response.write(rest.subarray(at, to))
      at = to
      await new Promise(setImmediate)
    }
    response.end()
  }

const linesOf = (stream: string, field: string): readonly string[] =>
  stream.split('\n').flatMap((line) => (line.startsWith(`${field}: `) ? [line.slice(field.length + 2)] : []))

/** The data of the events of a stream that are JSON objects. */
export const valuesIn = (stream: string): readonly JsonObject[] =>
  linesOf(stream, 'data')
    .filter((data) => data.startsWith('{'))
    .map((data) => JSON.parse(data) as JsonObject)

/** The types of the events of a stream, in order. */
export const typesIn = (stream: string): readonly string[] => linesOf(stream, 'event')

/** The parts of a message, or the items of a response. */
export const partsOf = (output: JsonObject | null): readonly JsonObject[] =>
  (output?.['content'] ?? output?.['output'] ?? []) as readonly JsonObject[]

/** The text that a model wrote, in the answer of any API. */
export const textOf = (output: JsonObject | null): string => {
  const [choice] = (output?.['choices'] ?? []) as readonly { text?: string }[]
  if (choice !== undefined) return choice.text ?? ''
  return partsOf(output)
    .flatMap((part) => (part['type'] === 'message' ? (part['content'] as readonly JsonObject[]) : [part]))
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('')
}

/** How an answer ended, in the words of its API. */
export const finishOf = (output: JsonObject | null): Json => {
  const { choices, stop_reason, status, incomplete_details } = output ?? {}
  if (Array.isArray(choices)) return (choices[0] as JsonObject)['finish_reason'] ?? null
  if (stop_reason !== undefined) return stop_reason
  const { reason } = (incomplete_details ?? {}) as JsonObject
  return reason === undefined ? (status ?? null) : `${status as string}: ${reason as string}`
}

/** A stream of events with these values, each named by its type. */
export const streamOf = (...values: readonly JsonObject[]): string =>
  values.map((value) => `event: ${value['type'] as string}\ndata: ${JSON.stringify(value)}\n\n`).join('')

const USAGE = { input_tokens: 12, output_tokens: 4 }

const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, model: 'chat-1-2026', error: null }

const item = (status: string, content: readonly JsonObject[]) => ({
  id: 'msg_1',
  ...{ type: 'message', role: 'assistant', status, content },
})

/** A response with this text: as a whole, and its events up to the text and from there on. */
export const responseOf = (text: string) => {
  const done = item('completed', [{ type: 'output_text', text, annotations: [] }])
  const whole = { ...RESPONSE, status: 'completed', output: [done], usage: { ...USAGE, total_tokens: 16 } }
  const response = { ...RESPONSE, status: 'in_progress', output: [], usage: null }
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  return {
    whole,
    head: [
      { type: 'response.created', response, sequence_number: 0 },
      { type: 'response.in_progress', response, sequence_number: 1 },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: item('in_progress', []),
        sequence_number: 2,
      },
    ],
    text: { type: 'response.output_text.delta', ...at, delta: text, sequence_number: 3 },
    rest: [
      { type: 'response.output_item.done', output_index: 0, item: done, sequence_number: 4 },
      { type: 'response.completed', response: whole, sequence_number: 5 },
    ],
  }
}

/** As `responseOf`, of a message. */
export const messageOf = (text: string) => {
  const start = { id: 'msg_1', type: 'message', role: 'assistant', model: 'chat-1-2026' }
  const ended = { stop_reason: 'end_turn', stop_sequence: null }
  const message = { ...start, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } }
  return {
    whole: { ...start, content: [{ type: 'text', text }], ...ended, usage: USAGE },
    head: [
      { type: 'message_start', message },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ],
    text: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    rest: [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: ended, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ],
  }
}

/** A request to each API whose streams are events with a type, and what an upstream answers. */
export const EVENT_APIS = {
  responses: {
    path: '/v1/responses',
    request: { input: 'hi' },
    answerOf: responseOf,
    error: { type: 'error', code: 'server_error', message: 'Overloaded', param: null, sequence_number: 9 },
  },
  messages: {
    path: '/v1/messages',
    request: { max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] },
    answerOf: messageOf,
    error: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  },
} as const
