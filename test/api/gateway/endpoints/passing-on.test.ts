import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { APIS } from '../../../../src/domain/gateway/upstreams/apis.js'
import { startGateway, type Completion, type Gateway } from '../../../support/upstreams/gateway.js'
import {
  EVENT_APIS,
  EVENTS,
  JSON_TYPE,
  messageOf,
  responseOf,
  sampleOf,
  sendingPieces,
  streamOf,
  valuesIn,
} from '../../../support/upstreams/samples.js'
import { sharedService, someProject } from '../../shared-service.js'

type Recorded = Completion & { readonly thread_id: string | null }

const MESSAGE = JSON.stringify(messageOf('Hello').whole)
const RESPONSE = JSON.stringify(responseOf('Hello').whole)

describe('a request to an API of the gateway', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService(), { upstream: { apis: APIS } })))
  after(() => gateway.upstream.close())

  const ask = async (path: string, request: JsonObject, headers: Record<string, string> = {}) => {
    const project = headers['openai-project'] ?? someProject()
    const answer = await gateway.service.post(
      path,
      { ...request, model: gateway.model },
      { headers: { 'openai-project': project, ...headers } },
    )
    const calls = async () => (await gateway.ended(project)) as readonly Recorded[]
    return { ...answer, calls, arrival: gateway.upstream.arrivals.at(-1)! }
  }

  const turns: readonly (readonly [number: string, path: string, answer: string, JsonObject])[] = [
    ['08', '/v1/responses', RESPONSE, {}],
    ['14', '/v1/messages', MESSAGE, {}],
    ['14', '/v1/messages', MESSAGE, { tomorrow: { a: [1, null, 12345678901234567890n.toString()] } }],
    ['12', '/v1/messages', MESSAGE, {}],
    ['15', '/v1/embeddings', sampleOf('15').answer.toString(), {}],
  ]
  for (const [number, path, answer, more] of turns)
    it(`reaches the upstream unchanged but for the model: sample ${number} ${Object.keys(more).join()}`, async () => {
      gateway.upstream.behave(sendingPieces(JSON_TYPE, answer))
      const { request } = sampleOf(number)
      const { status, text, arrival } = await ask(path, { ...request, ...more })
      assert.equal(status, 200, text)
      assert.deepEqual(arrival.body, { ...request, ...more, model: 'chat-1' })
      assert.deepEqual(Object.keys(arrival.body), [...new Set(Object.keys({ ...request, ...more }))])
    })

  it('of Claude Code keeps its betas, version and query, and gets the key of the upstream', async () => {
    gateway.upstream.behave(sendingPieces(JSON_TYPE, MESSAGE))
    const { arrival } = await ask('/v1/messages?beta=true', sampleOf('14').request, {
      'anthropic-beta': 'claude-code-20250219,context-management-2025-06-27',
      'anthropic-version': '2026-10-21',
      'x-client-request-id': 'r-1',
      'openai-organization': 'org-1',
      cookie: 'session=1',
    })
    assert.equal(arrival.url, '/v1/messages?beta=true')
    const { headers } = arrival
    assert.equal(headers['anthropic-beta'], 'claude-code-20250219,context-management-2025-06-27')
    assert.equal(headers['anthropic-version'], '2026-10-21')
    assert.equal(headers['x-client-request-id'], 'r-1')
    for (const name of ['authorization', 'x-api-key', 'openai-project', 'openai-organization', 'cookie'])
      assert.equal(headers[name], undefined, name)
  })

  it('without a version gets the first one, and none in another API', async () => {
    gateway.upstream.behave(sendingPieces(JSON_TYPE, MESSAGE))
    const { arrival } = await ask('/v1/messages', sampleOf('12').request)
    assert.equal(arrival.headers['anthropic-version'], '2023-06-01')
    gateway.upstream.behave(sendingPieces(JSON_TYPE, RESPONSE))
    const other = await ask('/v1/responses', { input: 'hi' }, { 'anthropic-beta': 'a' })
    assert.equal(other.arrival.headers['anthropic-version'], undefined)
    assert.equal(other.arrival.headers['anthropic-beta'], undefined)
  })

  it('for embeddings keeps encoding_format as it is, absent if it is absent', async () => {
    gateway.upstream.behave(sendingPieces(JSON_TYPE, sampleOf('15').answer))
    for (const encoding of [{}, { encoding_format: 'float' }, { encoding_format: 'base64' }]) {
      const request = { input: ['a', 'b'], ...encoding }
      const { arrival } = await ask('/v1/embeddings', request)
      assert.deepEqual(arrival.body, { ...request, model: 'chat-1' })
    }
  })

  it('for embeddings records the number and length of vectors, and not the vectors', async () => {
    const floats = Float32Array.from({ length: 1536 }, (_, at) => at / 7)
    const vectors = [
      Buffer.from(floats.buffer).toString('base64'),
      Buffer.from(floats.buffer).toString('base64').replace(/=+$/, ''),
      [...floats],
    ]
    const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }))
    const answer = JSON.stringify({ object: 'list', data, model: 'chat-1', usage: { prompt_tokens: 4 } })
    gateway.upstream.behave(sendingPieces(JSON_TYPE, answer, [4096]))
    const { text, calls } = await ask('/v1/embeddings', { input: ['a', 'b', 'c'] })
    assert.equal(text, answer.replace('"model":"chat-1"', `"model":"${gateway.model}"`))
    const [call] = await calls()
    assert.deepEqual(
      call!.output?.['data'],
      data.map(({ embedding: _, ...rest }) => ({ ...rest, dimensions: 1536 })),
    )
    const { prompt_tokens, completion_tokens } = call!.summary.usage![gateway.model]!
    assert.deepEqual([prompt_tokens, completion_tokens], [4, 0])
  })

  it('to a project that records metadata is not kept at the provider, and its content is not recorded', async () => {
    const project = someProject()
    const put = await gateway.service.send('PUT', `/api/projects/${project}`, { record: 'metadata' })
    assert.equal(put.status, 200, put.text)
    const { whole, head, text, rest } = responseOf('secret answer')
    for (const store of [{}, { store: true }, { store: false }])
      for (const stream of [false, true]) {
        const answer = streamOf(...head, text, ...rest)
        gateway.upstream.behave(
          stream ? sendingPieces(EVENTS, answer) : sendingPieces(JSON_TYPE, JSON.stringify(whole)),
        )
        const request = { input: 'secret question', stream, ...store }
        const { arrival } = await ask('/v1/responses', request, { 'openai-project': project })
        assert.equal(arrival.body['store'], false)
      }
    const calls = await gateway.ended(project, 6)
    assert.ok(calls.every(({ summary }) => summary.tallytree?.metering === 'reported'))
    assert.ok(!JSON.stringify(calls).includes('secret'))
  })

  it('keeps its store where content is recorded', async () => {
    gateway.upstream.behave(sendingPieces(JSON_TYPE, RESPONSE))
    for (const store of [{}, { store: true }, { store: false }]) {
      const { arrival } = await ask('/v1/responses', { input: 'hi', ...store })
      assert.deepEqual('store' in arrival.body ? { store: arrival.body['store'] } : {}, store)
    }
  })

  it('is refused if it needs a response that was kept', async () => {
    const { length } = gateway.upstream.arrivals
    const refused: readonly (readonly [JsonObject, param: string, code: string])[] = [
      [{ previous_response_id: 'resp_1' }, 'previous_response_id', 'previous_response_not_found'],
      [{ conversation: { id: 'conv_1' } }, 'conversation', 'unsupported_parameter'],
      [{ background: true }, 'background', 'unsupported_parameter'],
    ]
    for (const [more, param, code] of refused) {
      const { status, text, json } = await ask('/v1/responses', { input: 'hi', ...more })
      assert.equal(status, 400, text)
      const { error } = json<{ error: JsonObject }>()
      assert.deepEqual([error['param'], error['code']], [param, code])
    }
    assert.equal(gateway.upstream.arrivals.length, length)
    gateway.upstream.behave(sendingPieces(JSON_TYPE, RESPONSE))
    const none = { previous_response_id: null, conversation: null, background: false }
    assert.equal((await ask('/v1/responses', { input: 'hi', ...none })).status, 200)
  })

  it('has the thread of its session, by the headers of Codex and of Claude Code', async () => {
    const session = randomUUID()
    const clients: readonly (readonly [string, string, JsonObject, Record<string, string>, string])[] = [
      [
        '/v1/responses',
        RESPONSE,
        sampleOf('08').request,
        { 'session-id': session, 'thread-id': `${session}-1` },
        `${session}-1`,
      ],
      ['/v1/messages', MESSAGE, sampleOf('14').request, { 'x-claude-code-session-id': session }, session],
    ]
    for (const [path, answer, request, headers, thread] of clients) {
      gateway.upstream.behave(sendingPieces(JSON_TYPE, answer))
      const [call] = await (await ask(path, request, headers)).calls()
      assert.equal(call!.thread_id, thread)
    }
  })
})

describe('the requests of a session', () => {
  const gateways: Gateway[] = []
  before(async () => {
    const service = await sharedService()
    const id = `acme/session-${randomUUID()}`
    while (gateways.length < 3) {
      const gateway = await startGateway(service, { id, upstream: { apis: APIS } })
      gateway.upstream.behave(sendingPieces(JSON_TYPE, MESSAGE))
      gateways.push(gateway)
    }
  })
  after(() => Promise.all(gateways.map(({ upstream }) => upstream.close())))

  const send = async (headers: Record<string, string>) => {
    const [{ service, model }] = gateways as [Gateway]
    const body = { ...sampleOf('14').request, model }
    const { status, text } = await service.post('/v1/messages', body, { headers })
    assert.equal(status, 200, text)
    const counts = gateways.map(({ upstream }) => upstream.arrivals.length)
    return counts
  }

  it('go to the same of three upstreams, and those of other sessions to others', async () => {
    let before = gateways.map(() => 0)
    const served = async (session: string) => {
      const after = await send({ 'x-claude-code-session-id': session })
      const at = after.findIndex((count, place) => count > before[place]!)
      before = after
      return at
    }
    const used = new Set<number>()
    for (let session = 0; session < 40; session += 1) {
      const first = await served(`session-${session}`)
      assert.equal(await served(`session-${session}`), first)
      used.add(first)
    }
    assert.equal(used.size, 3)
  })
})

describe('a stream of events', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService(), { upstream: { apis: APIS } })))
  after(() => gateway.upstream.close())

  for (const { path, request, answerOf } of Object.values(EVENT_APIS))
    it(`ends with its last event although the upstream stays open: ${path}`, async () => {
      const { head, text, rest } = answerOf('Hello')
      const stream = streamOf(...head, text, ...rest)
      gateway.upstream.behave((_, response) => {
        response.writeHead(200, { 'content-type': EVENTS })
        response.write(stream)
      })
      const project = someProject()
      const body = { model: gateway.model, stream: true, ...request }
      const { text: got } = await gateway.service.post(path, body, { headers: { 'openai-project': project } })
      assert.equal(valuesIn(got).length, valuesIn(stream).length)
      const [call] = await gateway.ended(project)
      assert.deepEqual([call!.exception, call!.summary.tallytree?.metering], [null, 'reported'])
    })

  it('of chat is metered by usage in a chunk that has choices', async () => {
    const chunk = { id: 'c', object: 'chat.completion.chunk', model: 'chat-1' }
    const usage = {
      ...{ prompt_tokens: 2100, completion_tokens: 30, total_tokens: 2130 },
      prompt_tokens_details: { cached_tokens: 1920 },
    }
    const chunks = [
      { ...chunk, choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
    ]
    const stream = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')
    gateway.upstream.behave(sendingPieces(EVENTS, `${stream}data: [DONE]\n\n`))
    const project = someProject()
    await gateway.complete({ stream: true }, { headers: { 'openai-project': project } })
    const [call] = await gateway.ended(project)
    const { prompt_tokens, completion_tokens, cache_read_input_tokens } = call!.summary.usage![gateway.model]!
    assert.deepEqual([prompt_tokens, completion_tokens, cache_read_input_tokens], [2100, 30, 1920])
  })
})
