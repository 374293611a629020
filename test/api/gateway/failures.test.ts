import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import * as does from '../../support/upstreams/behaviours.js'
import { MESSAGES, startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import type { Behaviour } from '../../support/upstreams/upstream.js'
import type { Answered } from '../../support/client.js'
import { sendText } from '../http/raw.js'
import { ADMINISTRATOR_KEY } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'

interface ToldError {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly code: string | null
    readonly param: string | null
  }
  readonly detail: unknown
}

/** A failure in the form that clients of chat completions read. */
const failure = (answer: Answered, status: number): ToldError => {
  assert.equal(answer.status, status, answer.text)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
  const body = answer.json<ToldError & JsonObject>()
  assert.deepEqual(Object.keys(body).sort(), ['detail', 'error'])
  assert.deepEqual(Object.keys(body.error).sort(), ['code', 'message', 'param', 'type'])
  assert.ok(body.error.message.length > 0 && body.error.type.length > 0)
  assert.match(answer.headers.get('x-should-retry') ?? '', /^(true|false)$/)
  assert.match(answer.headers.get('openai-processing-ms') ?? '', /^\d+$/)
  assert.ok(answer.headers.get('x-request-id'))
  if (status === 429 || status === 503 || status === 529)
    assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/)
  return body
}

const OVER_64_MIB = `{"choices":[],"x":"${'x'.repeat(65 * 1024 * 1024)}"}`

describe('failed completions', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService())))
  after(() => gateway.upstream.close())

  const failed = async (behaviour: Behaviour, body: object = {}) => {
    const project = someProject()
    gateway.upstream.behave(behaviour)
    const answer = await gateway.complete(body, { headers: { 'openai-project': project } })
    const [call] = await gateway.ended(project)
    return { answer, call: call! }
  }

  for (const [status, code] of [
    [400, 'false'],
    [413, 'false'],
    [422, 'false'],
    [429, 'true'],
  ] as const)
    for (const stream of [false, true])
      it(`pass on an upstream’s ${status} with its own words, ${stream ? 'streamed' : 'whole'}`, async () => {
        const behaviour = does.failingWith(status, 'Too warm: temperature', { 'retry-after': '7' })
        const { answer, call } = await failed(behaviour, { stream })
        const { error, detail } = failure(answer, status)
        assert.deepEqual(error, {
          message: 'Too warm: temperature',
          type: 'scripted',
          code: 'scripted_code',
          param: null,
        })
        assert.equal(detail, error.message)
        assert.equal(answer.headers.get('x-should-retry'), code)
        assert.equal(answer.headers.get('retry-after'), status === 429 ? '7' : null)
        assert.equal(call.exception, error.message)
        assert.equal(call.summary.tallytree?.metering, 'unknown')
        assert.equal(call.summary.usage, undefined)
      })

  const faulty: readonly (readonly [string, number, Behaviour])[] = [
    ...[408, 500, 503].map((status) => [`a ${status}`, 502, does.failingWith(status, 'no')] as const),
    ['a redirect', 502, does.refusing(302, {}, { location: 'http://127.0.0.1:9/' })],
    ['an answer without content', 502, does.refusing(204, {})],
    ['a closed connection', 502, does.resetting],
    ['what is no JSON', 502, does.sendingRaw('application/json', '<html>')],
    ['no object', 502, does.sendingRaw('application/json', '[1]')],
    ['no list of choices', 502, does.sendingRaw('application/json', '{"choices":{}}')],
    ['a choice that is none', 502, does.sendingRaw('application/json', '{"choices":[1]}')],
    ['an error with status 200', 502, does.refusing(200, { error: { message: 'no' } })],
    [
      'JSON that nests without end',
      502,
      does.sendingRaw('application/json', `{"choices":[],"x":${'['.repeat(1e5)}`),
    ],
    ['more than 64 MiB', 502, does.sendingRaw('application/json', OVER_64_MIB)],
    [
      'nesting beyond what is taken',
      502,
      does.sendingRaw('application/json', `{"choices":[],"x":${'['.repeat(9999)}${']'.repeat(9999)}}`),
    ],
  ]
  for (const [what, status, behaviour] of faulty)
    it(`answer ${status} to ${what}`, async () => {
      const { answer, call } = await failed(behaviour)
      const { error } = failure(answer, status)
      assert.equal(error.code, 'upstream_error')
      assert.equal(answer.headers.get('x-should-retry'), 'true')
      assert.equal(call.exception, error.message)
      assert.equal(call.summary.tallytree?.metering, 'unknown')
    })

  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const overloading: readonly (readonly [string, Behaviour, retryAfter: string])[] = [
    ['a 529', does.refusing(529, overloaded, { 'retry-after': '9' }), '9'],
    ['a 529 without a body', does.refusing(529, {}), '1'],
    ['an overloaded_error with status 200', does.refusing(200, overloaded), '1'],
    [
      'an overloaded_error in an event',
      does.sendingRaw('text/event-stream', `event: error\ndata: ${JSON.stringify(overloaded)}\n\n`),
      '1',
    ],
  ]
  for (const [what, behaviour, retryAfter] of overloading)
    it(`answer 529 to ${what}`, async () => {
      const { answer, call } = await failed(behaviour, { stream: what.includes('event') })
      const { error } = failure(answer, 529)
      assert.equal(error.code, 'upstream_error')
      assert.equal(answer.headers.get('x-should-retry'), 'true')
      assert.equal(answer.headers.get('retry-after'), retryAfter)
      assert.equal(call.exception, error.message)
    })

  it('are told where a stream without an answer comes and none was requested; JSON for a stream is one chunk', async () => {
    const whole = does.refusing(200, does.wholeOf('chat-1', 'Hello', does.usageOf(1, 1)))
    assert.match(
      (await failed(whole, { stream: true })).answer.text,
      /"delta":\{.*"content":"Hello"[^]*\[DONE\]/,
    )
    const streamed = does.sendingRaw('text/event-stream', 'data: {"choices":[]}\n\ndata: [DONE]\n\n')
    failure((await failed(streamed)).answer, 502)
  })

  it('are none where clients double slashes, send the key as Azure wants it, or ask for no limit', async () => {
    const { service } = gateway
    gateway.upstream.behave(does.saying(['Hello']))
    const asked = { model: gateway.model, messages: MESSAGES }
    for (const path of ['/v1//chat/completions', '//v1/chat/completions', '/v1/chat/completions/'])
      assert.equal((await service.post(path, asked)).status, 200, path)
    for (const max_tokens of [0, -1])
      assert.equal((await service.post('/v1/chat/completions', { ...asked, max_tokens })).status, 200)
    assert.equal(gateway.upstream.arrivals.at(-1)?.body['max_tokens'], -1)
    assert.equal(gateway.upstream.arrivals.at(-1)?.headers['user-agent'], 'Tallytree')
    for (const [key, status] of [
      [ADMINISTRATOR_KEY, 200],
      ['wrong', 401],
      ['', 401],
    ] as const) {
      const answer = await fetch(`${service.address}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(asked),
      })
      assert.equal(answer.status, status)
    }
  })

  it('are none where JSON begins with a byte order mark', async () => {
    const whole = JSON.stringify(does.wholeOf('chat-1', 'Hello', does.usageOf(1, 1)))
    assert.equal((await failed(does.sendingRaw('application/json', `\ufeff${whole}`))).answer.status, 200)
  })

  it('are told with a status where a stream breaks off before its first event', async () => {
    for (const text of [
      '',
      'data: [DONE]\n\n',
      ': hello\n\n',
      'data: {"error":{"message":"no"}}\n\n',
      'data: x\n\n',
    ])
      failure((await failed(does.sendingRaw('text/event-stream', text), { stream: true })).answer, 502)
  })

  it('wait for what a date in Retry-After says', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString()
    const { answer } = await failed(does.failingWith(429, 'slow down', { 'retry-after': date }))
    const seconds = Number(answer.headers.get('retry-after'))
    assert.ok(seconds > 50 && seconds <= 60, String(seconds))
    assert.equal(
      (await failed(does.failingWith(429, 'slow', { 'retry-after': 'soon' }))).answer.headers.get(
        'retry-after',
      ),
      '1',
    )
  })
})

describe('requests for completions that are none', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService())))
  after(() => gateway.upstream.close())

  it('are refused by what is wrong with them, and reach no upstream', async () => {
    const project = { headers: { 'openai-project': someProject() } }
    const bodies: readonly (readonly [number, string | object])[] = [
      [422, ''],
      [422, '{"model":'],
      [422, '[]'],
      [422, 'null'],
      [422, '{}'],
      [422, { model: gateway.model }],
      [422, { model: gateway.model, messages: [] }],
      [422, { model: gateway.model, messages: 'hello' }],
      [422, { model: gateway.model, messages: [1] }],
      [422, { model: gateway.model, messages: [{ content: 'no role' }] }],
      [422, { model: 7, messages: MESSAGES }],
      [404, { model: '', messages: MESSAGES }],
      [422, { model: gateway.model, messages: MESSAGES, stream: 'yes' }],
      [422, { model: gateway.model, messages: MESSAGES, n: 0 }],
      [422, { model: gateway.model, messages: MESSAGES, n: 1e9 }],
      [422, { model: gateway.model, messages: MESSAGES, max_tokens: -2 }],
      [422, { model: gateway.model, messages: MESSAGES, stream: true, stream_options: 7 }],
      [422, `{"model":"m","messages":[],"x":${'['.repeat(300)}${']'.repeat(300)}}`],
      [422, { model: gateway.model, messages: MESSAGES, max_tokens: 1e308 }],
      [422, { model: gateway.model, messages: MESSAGES, best_of: '9' }],
      [413, `{"model":"m","messages":[],"x":"${'x'.repeat(33 * 1024 * 1024)}"}`],
      [404, { model: 'acme/unknown', messages: MESSAGES }],
      [404, { model: 'nul\u0000', messages: MESSAGES }],
    ]
    for (const [status, body] of bodies) {
      const answer = await gateway.service.post('/v1/chat/completions', body, project)
      const { error } = failure(answer, status)
      if (status === 404) assert.equal(error.code, 'model_not_found')
      assert.equal(answer.headers.get('x-should-retry'), 'false')
    }
    assert.equal(gateway.upstream.arrivals.length, 0)
  })

  it('name the field', async () => {
    const answer = await gateway.complete({ temperature: 1, max_tokens: 'many' })
    const { error, detail } = failure(answer, 422)
    assert.equal(error.param, 'max_tokens')
    assert.match(error.message, /^max_tokens: /)
    assert.deepEqual((detail as { loc: unknown }[])[0]?.loc, ['body', 'max_tokens'])
  })

  it('pass content of any kind: NUL, halves of surrogate pairs, unknown keys', async () => {
    const project = someProject()
    const text = `{"model":${JSON.stringify(gateway.model)},"messages":[{"role":"user","content":"a\\u0000b\\ud800"}],"x_y":null}`
    const answer = await gateway.service.post('/v1/chat/completions', text, {
      headers: { 'openai-project': project },
    })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(gateway.upstream.arrivals.at(-1)?.body, {
      model: 'chat-1',
      messages: [{ role: 'user', content: 'a\u0000b\ufffd' }],
      x_y: null,
    })
    assert.equal((await gateway.ended(project)).length, 1)
  })

  it('pass whole numbers on with their digits, and the last of members that are given twice', async () => {
    const digits = '123456789012345678901234567890'
    const numbers = `"seed":${digits},"temperature":0.25,"top_p":1.0,"a":[${digits}]`
    for (const stream of [false, true]) {
      const head = `"model":${JSON.stringify(gateway.model)},"messages":[{"role":"user","content":"a"}]`
      const answer = await gateway.service.post(
        '/v1/chat/completions',
        `{"stream":${!stream},${numbers},${head},"stream":${stream}}`,
      )
      assert.match(answer.headers.get('content-type') ?? '', stream ? /event-stream/ : /json/)
      const { text } = gateway.upstream.arrivals.at(-1)!
      for (const number of numbers.split(/,(?=")/)) assert.ok(text.includes(number), `${number} in ${text}`)
      assert.equal(text.split('"stream":').length, 2)
    }
  })

  it('say of a body that is no JSON that it is none', async () => {
    for (const body of ['{"model":', "{'model': 1}", '{', '\u0000']) {
      const { error } = failure(await gateway.service.post('/v1/chat/completions', body), 422)
      assert.deepEqual([error.message, error.param], ['The body is not JSON.', null])
    }
  })

  it('are refused with 415 in an encoding that is not known', async () => {
    const headers = { 'content-encoding': 'zstd' }
    const { error } = failure(await gateway.complete({}, { headers }), 415)
    assert.match(error.message, /gzip, deflate or br/)
  })

  it('need a key, and a project that it may use: 401 otherwise', async () => {
    failure(await gateway.complete({}, { key: 'wrong' }), 401)
    failure(await gateway.complete({}, { key: null }), 401)
    const { error } = failure(await gateway.complete({}, { headers: { 'openai-project': 'proj_1' } }), 401)
    assert.match(error.message, /team\/project/)
  })

  const unserved: readonly (readonly [string, RegExp])[] = [
    ['/v1/responses/resp_1', /not kept.*`input`/],
    ['/v1/responses/resp_1/cancel', /not kept/],
    ['/v1/responses/resp_1/input_items', /not kept/],
    ['/v1/responses/compact', /not compacted/],
    ['/v1/responses/input_tokens', /`usage`/],
    ['/v1/messages/batches', /Batches/],
    ['/v1/messages/batches/b/results', /Batches/],
    ['/v1/batches', /Batches/],
    ['/v1/complete', /\/v1\/messages/],
    ['/v1/engines/e/completions', /\/v1\/completions/],
    ['/v1beta/models/gemini-2:generateContent', /Gemini/],
    ['/v1beta/models', /Gemini/],
    ['/v1/models/gemini-2:generateContent', /Gemini/],
    ['/openai/deployments/d/chat/completions', /Azure/],
    ['/api/chat', /Ollama/],
    ['/v1/images/generations', /the provider/],
    ['/v1/audio/speech', /the provider/],
    ['/v1/audio/transcriptions/', /the provider/],
    ['/v1/assistants', /all messages/],
    ['/v1/threads/t/runs', /all messages/],
    ['/v1/conversations', /all messages/],
  ]
  it('name what to use in place of endpoints that clients expect and that are not served', async () => {
    for (const [path, instead] of unserved) {
      const answer = await gateway.service.post(path, {})
      assert.ok(answer.status === 404 || answer.status === 405, `${path}: ${answer.status}`)
      assert.match(answer.text, instead, path)
      if (path.startsWith('/v1/') && !path.startsWith('/v1/messages')) failure(answer, answer.status)
    }
  })

  it('are told in this form for unknown paths and methods too', async () => {
    const get = (path: string) => gateway.service.send('GET', path)
    assert.equal(failure(await get('/v1/nothing'), 404).error.code, 'unknown_url')
    assert.equal(failure(await get('/v1'), 404).error.code, 'unknown_url')
    assert.equal(failure(await get('/v1/chat/completions'), 405).error.code, 'method_not_allowed')
    assert.equal((await get('/v1/chat/completions')).headers.get('allow'), 'POST, OPTIONS')
    assert.deepEqual(Object.keys((await get('/v10')).json()), ['reason'])
  })
})

describe('the headers of completions', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService())))
  after(() => gateway.upstream.close())

  it('repeat a sane x-request-id, and only that', async () => {
    const named = async (name: string) =>
      (await gateway.complete({}, { headers: { 'x-request-id': name } })).headers.get('x-request-id')
    for (const name of ['a', 'req_123', '!"#~', 'x'.repeat(128)]) assert.equal(await named(name), name)
    for (const name of ['', 'a b', 'é', 'x'.repeat(129)])
      assert.match((await named(name)) ?? '', /^[0-9a-f-]{36}$/)
    const elsewhere = await gateway.service.send('GET', '/health', undefined, {
      headers: { 'x-request-id': 'mine' },
    })
    assert.notEqual(elsewhere.headers.get('x-request-id'), 'mine')
  })

  it('are those of an answer, whole or streamed', async () => {
    for (const stream of [false, true]) {
      const { status, headers } = await gateway.complete({ stream })
      assert.equal(status, 200)
      assert.match(headers.get('openai-processing-ms') ?? '', /^\d+$/)
      assert.match(headers.get('content-type') ?? '', stream ? /^text\/event-stream/ : /^application\/json/)
      if (!stream) continue
      assert.equal(headers.get('cache-control'), 'private, no-store')
      assert.equal(headers.get('x-accel-buffering'), 'no')
    }
  })
})

describe('the paths of models and completions', () => {
  const ids = ['acme/deep/chat', 'wandb-artifact:///acme/p/m:step1', 'plain', 'räum/50%']
  let gateway: Gateway
  before(async () => {
    gateway = await startGateway(await sharedService(), {
      id: 'acme/base',
      upstream: { models: ids.map((id) => ({ id, upstream_id: 'chat-1', aliases: [`${id}-alias`] })) },
    })
  })
  after(() => gateway.upstream.close())

  it('take a slash at their end', async () => {
    const body = { model: 'plain', messages: MESSAGES }
    assert.equal((await gateway.service.post('/v1/chat/completions/', body)).status, 200)
    const list = await gateway.service.send('GET', '/v1/models/')
    assert.equal(list.status, 200)
    assert.equal(list.json()['object'], 'list')
  })

  it('take ids with slashes as they are, and encoded', async () => {
    for (const id of ids)
      for (const path of [encodeURIComponent(id), encodeURI(id)]) {
        const found = await gateway.service.send('GET', `/v1/models/${path}`)
        assert.equal(found.status, 200, `${path}: ${found.text}`)
        assert.equal(found.json()['id'], id)
      }
    const known = await gateway.service.send('GET', '/v1/models/plain-alias')
    assert.equal(known.json()['id'], 'plain')
    failure(await gateway.service.send('GET', '/v1/models/acme/deep'), 404)
  })

  it('that cannot be decoded are refused, not failed on', async () => {
    for (const path of ['/v1/models/%zz', '/v1/models/%', '/v1/models/%ff', '/v1/models/%00']) {
      const text = await sendText(
        await sharedService(),
        `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      )
      assert.match(text, /^HTTP\/1\.1 4\d\d /, path)
    }
  })

  it('take every name of a model, and answer with its id', async () => {
    for (const id of ids) {
      const answer = await gateway.service.post('/v1/chat/completions', {
        model: `${id}-alias`,
        messages: MESSAGES,
      })
      assert.equal(answer.json()['model'], id)
    }
  })
})
