import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import type { ServerResponse } from 'node:http'
import { within } from '../../../../src/kernel/within.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { COUNTS, itInFull } from '../../../counts.js'
import { startTestService, type TestService } from '../../../support/service.js'
import { drained } from '../../../support/upstreams/behaviours.js'
import { startGateway, type Gateway } from '../../../support/upstreams/gateway.js'
import type { Behaviour } from '../../../support/upstreams/upstream.js'

const REQUESTS = {
  'chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  responses: { input: 'Hi' },
  messages: { max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] },
} as const
type Path = keyof typeof REQUESTS
const PATHS = Object.keys(REQUESTS) as Path[]

/** Events as text; others than objects are sent as they are. */
const eventText = (event: JsonObject | string): string =>
  typeof event === 'string'
    ? event
    : `${typeof event['type'] === 'string' ? `event: ${event['type']}\n` : ''}data: ${JSON.stringify(event)}\n\n`

const begin = (response: ServerResponse, type = 'text/event-stream', headers = {}): void =>
  void response.writeHead(200, { 'content-type': type, ...headers })

const streaming =
  (...events: readonly (JsonObject | string)[]): Behaviour =>
  (_, response) => {
    begin(response)
    response.end(events.map(eventText).join(''))
  }

/** As many events as are asked for, as fast as the gateway reads. */
const many =
  (
    head: readonly JsonObject[],
    event: (at: number) => JsonObject,
    count: number,
    tail: readonly JsonObject[],
  ): Behaviour =>
  async (_, response) => {
    begin(response)
    response.write(head.map(eventText).join(''))
    const step = 500
    for (let at = 0; at < count && !response.destroyed; at += step) {
      const text = Array.from({ length: step }, (__, more) => eventText(event(at + more))).join('')
      if (!response.write(text)) await drained(response)
    }
    response.end(tail.map(eventText).join(''))
  }

const RESPONSE = { id: 'resp_1', object: 'response', model: 'm', status: 'in_progress', output: [] }
const COMPLETED = {
  type: 'response.completed',
  response: { ...RESPONSE, status: 'completed', usage: { input_tokens: 3, output_tokens: 2 } },
}
const created = { type: 'response.created', response: RESPONSE }
const textDelta = (delta: Json, output_index: Json = 0): JsonObject => ({
  ...{ type: 'response.output_text.delta', output_index, content_index: output_index, delta },
})
const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] }
const start = { type: 'message_start', message: { ...MESSAGE, usage: { input_tokens: 3, output_tokens: 1 } } }
const blockStart = (index: Json, content_block: Json = { type: 'text', text: '' }): JsonObject => ({
  ...{ type: 'content_block_start', index, content_block },
})
const blockDelta = (index: Json, delta: Json = { type: 'text_delta', text: 'Hi' }): JsonObject => ({
  ...{ type: 'content_block_delta', index, delta },
})
const messageDelta = (delta: Json, usage: Json = { output_tokens: 2 }): JsonObject => ({
  ...{ type: 'message_delta', delta, usage },
})
const stop = { type: 'message_stop' }
const chunk = (delta: Json, more: JsonObject = {}): JsonObject => ({
  ...{ id: 'c', object: 'chat.completion.chunk', model: 'm' },
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
})
const chatEnd: readonly JsonObject[] = [
  chunk({}, { finish_reason: 'stop' }),
  { id: 'c', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
]

const deep = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const INDEXES: readonly Json[] = [1e9, -1, 1.5, '7', 'x', null, {}, [], 2 ** 53, '__proto__']
const PROTO = JSON.parse('{"__proto__":{"isSpoilt":true},"constructor":1,"toString":2}') as JsonObject
const ODD: readonly Json[] = [null, 1, 'x', [], [null], [[]], {}, PROTO, '\ud800', '\u0000', true]
const FRAME_CHARACTERS = 60 * 1024 * 1024
const BLOCKS = COUNTS.hostileBlocks
const BOMB_BYTES = 100_000_000

/** What an upstream may do, by the API that it is asked in. */
const STREAMS: Readonly<Record<Path, Readonly<Record<string, Behaviour>>>> = {
  responses: {
    'odd indexes': streaming(created, ...INDEXES.map((index) => textDelta('Hi', index)), COMPLETED),
    'odd indexes that break off': streaming(created, ...INDEXES.map((index) => textDelta('Hi', index))),
    'whole items at odd places': streaming(
      created,
      ...INDEXES.flatMap((output_index) =>
        ODD.map((item) => ({ type: 'response.output_item.done', output_index, item })),
      ),
    ),
    'items of another type': streaming(
      created,
      ...ODD.flatMap((item) => [
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.content_part.added', output_index: 0, content_index: 0, part: item },
      ]),
      textDelta('Hi'),
    ),
    'deltas of another type': streaming(created, ...ODD.map((delta) => textDelta(delta)), COMPLETED),
    'deltas of another type that break off': streaming(created, ...ODD.map((delta) => textDelta(delta))),
    'a completed event without its response': streaming(created, textDelta('Hi'), {
      type: 'response.completed',
    }),
    'frames of another type': streaming(
      ...ODD.map((response) => ({ type: 'response.created', response })),
      textDelta('Hi'),
      ...ODD.map((response) => ({ type: 'response.completed', response })),
    ),
    'events after the end': streaming(created, textDelta('Hi'), COMPLETED, COMPLETED, textDelta('more')),
    'failures of another type': streaming(created, { type: 'response.failed', response: 5 }),
    'very many parts': many([created], (at) => textDelta('x', at), BLOCKS, []),
    'very many items': many(
      [created],
      (output_index) => ({ type: 'response.output_item.done', output_index, item: { type: 'message' } }),
      BLOCKS,
      [COMPLETED],
    ),
    'a frame of 60 MiB': streaming(created, textDelta('x'.repeat(FRAME_CHARACTERS)), COMPLETED),
  },
  messages: {
    'odd indexes': streaming(
      start,
      ...INDEXES.flatMap((index) => [blockStart(index), blockDelta(index)]),
      messageDelta({ stop_reason: 'end_turn' }),
      stop,
    ),
    'odd indexes that break off': streaming(
      start,
      ...INDEXES.flatMap((index) => [blockStart(index), blockDelta(index)]),
    ),
    'blocks of another type': streaming(
      start,
      ...ODD.flatMap((block) => [
        blockStart(0, block),
        blockDelta(0, block),
        blockDelta(0, { type: block, text: block }),
        blockDelta(0, { type: 'text_delta', text: block }),
        blockDelta(0, { type: 'citations_delta', citation: block }),
      ]),
      messageDelta({ stop_reason: 'end_turn' }),
      stop,
    ),
    'members of another type at the end': streaming(
      start,
      blockDelta(0),
      ...ODD.flatMap((odd) => [
        messageDelta(odd, odd),
        messageDelta({ content: odd, usage: odd, last_usage: odd, model: odd, stop_reason: odd }, odd),
      ]),
      stop,
    ),
    'content at the end': streaming(start, messageDelta({ content: [null, 1, 'x', []] }), stop),
    'frames of another type': streaming(
      ...ODD.map((message) => ({ type: 'message_start', message })),
      blockDelta(0),
      stop,
    ),
    'the end twice': streaming(start, blockDelta(0), stop, stop, blockDelta(1), start),
    'a stop alone': streaming(stop),
    'very many blocks': many([start], (index) => blockStart(index, { type: 'text', text: 'x' }), BLOCKS, [
      stop,
    ]),
    'very many deltas of blocks': many([start], (index) => blockDelta(index), BLOCKS, [stop]),
    'a frame of 60 MiB': streaming(
      start,
      blockDelta(0, { type: 'text_delta', text: 'x'.repeat(FRAME_CHARACTERS) }),
      stop,
    ),
    'deep input of a tool': streaming(
      start,
      blockStart(0, { type: 'tool_use', id: 't', name: 'n', input: {} }),
      blockDelta(0, { type: 'input_json_delta', partial_json: deep(100_000) }),
      messageDelta({ stop_reason: 'tool_use' }),
      stop,
    ),
    'input of a tool with prototypes': streaming(
      start,
      blockStart(0, { type: 'tool_use', id: 't', name: 'n', input: {} }),
      blockDelta(0, { type: 'input_json_delta', partial_json: JSON.stringify(PROTO) }),
      messageDelta(PROTO, PROTO),
      stop,
    ),
  },
  'chat/completions': {
    'odd indexes of calls': streaming(
      ...INDEXES.map((index) =>
        chunk({ tool_calls: [{ index, id: 'c', function: { name: 'n', arguments: '{}' } }] }),
      ),
      ...chatEnd,
    ),
    'deltas of another type': streaming(
      ...ODD.flatMap((odd) => [
        chunk(odd),
        chunk({ content: odd, tool_calls: odd, reasoning_content: odd, refusal: odd }),
      ]),
      ...chatEnd,
    ),
    'very many calls': many(
      [],
      (index) =>
        chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: 'n', arguments: '{}' } }] }),
      BLOCKS,
      chatEnd,
    ),
    'very many texts and refusals': many(
      [],
      (at) => chunk(at % 2 === 0 ? { content: 'x' } : { refusal: 'y' }),
      BLOCKS,
      chatEnd,
    ),
    'deep arguments': streaming(
      chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'n', arguments: deep(100_000) } }] }),
      ...chatEnd,
    ),
    'a frame of 60 MiB': streaming(chunk({ content: 'x'.repeat(FRAME_CHARACTERS) }), ...chatEnd),
  },
}

/** Of any API. */
const ANY: Readonly<Record<string, Behaviour>> = {
  'a page of HTML': (_, response) => {
    begin(response, 'text/html')
    response.end('<html><body>Bad gateway</body></html>')
  },
  'deep JSON': streaming(`data: ${deep(1_000_000)}\n\n`),
  'deep JSON in place of a stream': (_, response) => {
    begin(response, 'application/json')
    response.end(deep(1_000_000))
  },
  'a gzip bomb': (_, response) => {
    begin(response, 'application/json', { 'content-encoding': 'gzip' })
    response.end(gzipSync(Buffer.alloc(BOMB_BYTES, ' ')))
  },
  'a gzip bomb of events': (_, response) => {
    begin(response, 'text/event-stream', { 'content-encoding': 'gzip' })
    response.end(gzipSync(Buffer.concat([Buffer.from('data: '), Buffer.alloc(BOMB_BYTES, 'x')])))
  },
  'NUL and lone surrogates': streaming('data: "\\ud800\u0000"\n\n', 'event: \u0000\ndata: \u0000\n\n'),
  'no events at all': streaming(''),
}

/** Takes seconds. */
const LARGE = /very many|60 MiB|bomb|deep JSON/

describe('hostile upstreams', () => {
  let service: TestService
  const gateways = new Map<string, Gateway>()
  let projects = 0
  before(async () => {
    service = await startTestService()
    for (const [kind, apis] of [
      ['native', ['chat', 'responses', 'messages']],
      ['translated', ['chat']],
    ] as const)
      gateways.set(kind, await startGateway(service, { upstream: { apis } }))
  })
  after(async () => {
    await service.stop()
    await Promise.all([...gateways.values()].map(({ upstream }) => upstream.close()))
  })

  const isError = (path: Path, value: JsonObject): boolean =>
    path === 'messages'
      ? value['type'] === 'error' && typeof (value['error'] as JsonObject)['message'] === 'string'
      : typeof (value['error'] as JsonObject | undefined)?.['message'] === 'string'

  /** An answer or an error of the API, and a call that has ended. */
  const judge = async (kind: string, path: Path, behaviour: Behaviour, stream: boolean): Promise<void> => {
    const gateway = gateways.get(kind)!
    gateway.upstream.behave(behaviour)
    const project = `acme/hostile-${(projects += 1)}`
    const answer = await within(
      100_000,
      service.post(
        `/v1/${path}`,
        { model: gateway.model, ...REQUESTS[path], stream },
        { headers: { 'openai-project': project } },
      ),
    )
    assert.ok(answer !== undefined, 'it hangs')
    assert.ok(answer.status === 200 || [502, 503].includes(answer.status), answer.text.slice(0, 1000))
    if (answer.status !== 200) assert.ok(isError(path, answer.json<JsonObject>()), answer.text.slice(0, 1000))
    const [call] = (await within(20_000, gateway.ended(project))) ?? []
    assert.ok(call !== undefined, 'the call has not ended')
    assert.equal(({} as { isSpoilt?: boolean }).isSpoilt, undefined)
  }

  for (const path of PATHS)
    for (const stream of [true, false])
      for (const [title, behaviour] of Object.entries({ ...STREAMS[path], ...ANY })) {
        const isUsual = !LARGE.test(title) || (path === 'messages' && stream)
        const test = isUsual ? it : itInFull
        test(`are answered on ${path}, ${stream ? 'streamed' : 'whole'}: ${title}`, () =>
          judge('native', path, behaviour, stream))
      }
  for (const path of ['responses', 'messages'] as const)
    for (const stream of [true, false])
      for (const [title, behaviour] of Object.entries({ ...STREAMS['chat/completions'], ...ANY })) {
        const test = LARGE.test(title) ? itInFull : it
        test(`are answered on ${path} by a translation, ${stream ? 'streamed' : 'whole'}: ${title}`, () =>
          judge('translated', path, behaviour, stream))
      }
})
