import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import type { Answered } from '../../support/client.js'
import * as does from '../../support/upstreams/behaviours.js'
import { eventsIn, startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import type { Behaviour } from '../../support/upstreams/upstream.js'
import { sharedService, someProject } from '../shared-service.js'

const SAYS = 'The balance of acme is too low'

interface Told {
  readonly error: { readonly message: string; readonly code: string | null }
}

/** Where an error can come. `hasBegun`: the client has a part of the answer before it. */
interface Place {
  readonly stream: boolean
  readonly hasBegun?: true
  readonly behaviour: (body: string) => Behaviour
}

const json =
  (status: number, headers = {}, pack: (body: string) => string | Buffer = (body) => body) =>
  (body: string): Behaviour =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(pack(body))

const afterContent =
  (type: string, write: (body: string) => string) =>
  (body: string): Behaviour =>
  (_, response) => {
    response.writeHead(200, { 'content-type': type })
    response.write(write(JSON.stringify(does.chunkOf('chat-1', [does.delta(0, { content: 'half' })], null))))
    setTimeout(() => response.end(write(body) + write('[DONE]')), 10)
  }

const event = (data: string) => `data: ${data}\n\n`
const line = (data: string) => (data === '[DONE]' ? '' : `${data}\n`)

const PLACES: Readonly<Record<string, Place>> = {
  'a whole answer': { stream: false, behaviour: json(200) },
  'a whole answer, indented': {
    stream: false,
    behaviour: (body) => json(200)(JSON.stringify(JSON.parse(body), null, 2)),
  },
  'a compressed answer': {
    stream: false,
    behaviour: json(200, { 'content-encoding': 'gzip' }, (body) => gzipSync(body)),
  },
  'the first event': {
    stream: true,
    behaviour: (body) => does.sendingRaw('text/event-stream', event(body) + event('[DONE]')),
  },
  'an event, although none was requested': {
    stream: false,
    behaviour: (body) => does.sendingRaw('text/event-stream', event(body) + event('[DONE]')),
  },
  'JSON in place of a stream': { stream: true, behaviour: json(200) },
  'an event after content': {
    stream: true,
    hasBegun: true,
    behaviour: afterContent('text/event-stream', event),
  },
  'a line of JSON after content': {
    stream: true,
    hasBegun: true,
    behaviour: afterContent('application/x-ndjson', line),
  },
  'an event after content, although none was requested': {
    stream: false,
    behaviour: afterContent('text/event-stream', event),
  },
  'a 500': { stream: false, behaviour: json(500) },
  'a 503 for a stream': { stream: true, behaviour: json(503) },
  'a compressed 429': {
    stream: false,
    behaviour: json(429, { 'content-encoding': 'gzip' }, (body) => gzipSync(body)),
  },
  'an event of a 400': {
    stream: true,
    behaviour: (body) => (_, response) =>
      void response
        .writeHead(400, { 'content-type': 'text/event-stream' })
        .end(`event: error\n${event(body)}`),
  },
}

const FORMS: readonly object[] = [
  { error: { message: SAYS } },
  { error: SAYS },
  { id: 'x', choices: null, base_resp: { status_code: 1008, status_msg: SAYS } },
  { error_code: 17, error_msg: SAYS },
  { success: false, errors: [{ code: 7009, message: SAYS }] },
  { errors: [{ message: SAYS }] },
  { fault: { faultstring: SAYS } },
  { __type: 'ThrottlingException', message: SAYS },
  { Message: SAYS },
  { msg: SAYS, code: 500, data: null },
  { type: 'about:blank', title: 'Payment required', status: 402, detail: SAYS },
  { type: 'insufficient_quota', message: SAYS },
  { error: 'invalid_grant', error_description: SAYS },
  { Response: { Error: { Code: 'AuthFailure', Message: SAYS } } },
  [{ error: { code: 503, message: SAYS } }],
  { detail: [{ loc: ['body'], msg: SAYS, type: 'missing' }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { message: SAYS } }] },
]

describe('an error of an upstream, in any form and place', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService())))
  after(() => gateway.upstream.close())

  const failed = async (behaviour: Behaviour, stream: boolean) => {
    gateway.upstream.behave(behaviour)
    const project = someProject()
    const before = gateway.service.logged.length
    const answer = await gateway.complete({ stream }, { headers: { 'openai-project': project } })
    const [call] = await gateway.ended(project)
    const logged = gateway.service.logged
      .slice(before)
      .filter(({ event }) => event === 'gateway.upstream_error')
    return { answer, call: call!, logged }
  }

  const toldIn = (answer: Answered, hasBegun: boolean): Told => {
    if (!hasBegun) {
      assert.ok(answer.status >= 400, answer.text)
      return answer.json<Told>()
    }
    assert.equal(answer.status, 200)
    const events = eventsIn(answer.text)
    assert.equal(events.filter((event) => event.includes('"error"')).length, 1, 'it is told once')
    assert.match(events[0]!, /half/)
    return JSON.parse(events.at(-1)!) as Told
  }

  for (const [name, { stream, hasBegun = false, behaviour }] of Object.entries(PLACES))
    it(`reaches the client, the call and the log as ${name}`, async () => {
      for (const form of FORMS) {
        const text = JSON.stringify(form)
        const { answer, call, logged } = await failed(behaviour(text), stream)
        const { message } = toldIn(answer, hasBegun).error
        assert.ok(message.includes(SAYS), `${text}: ${message}`)
        assert.equal(call.exception, message)
        assert.deepEqual(
          logged.map((entry) => entry['message']),
          [message],
        )
      }
    })

  const texts: readonly (readonly [string, string, string])[] = [
    ['plain text', 'text/plain', SAYS],
    ['a title of a page', 'text/html', `<!doctype html><html><head><title>${SAYS}</title></head></html>`],
    [
      'XML',
      'application/xml',
      `<?xml version="1.0"?><Error><Code>x</Code><Message>${SAYS}</Message></Error>`,
    ],
    ['a JSON string', 'application/json', JSON.stringify(SAYS)],
    [
      'JSON in a JSON string',
      'application/json',
      JSON.stringify(JSON.stringify({ error: { message: SAYS } })),
    ],
  ]
  for (const [name, type, text] of texts)
    it(`reaches the client, the call and the log as ${name}`, async () => {
      for (const status of [200, 500])
        for (const stream of [false, true]) {
          const behaviour: Behaviour = (_, response) =>
            void response.writeHead(status, { 'content-type': type }).end(text)
          const { answer, call, logged } = await failed(behaviour, stream)
          const { message } = toldIn(answer, false).error
          assert.ok(message.endsWith(SAYS), message)
          assert.equal(call.exception, message)
          assert.equal(logged[0]?.['message'], message)
        }
    })

  it('quotes plain text that ends a stream in place of an event', async () => {
    const { answer, call } = await failed(afterContent('text/event-stream', event)(SAYS), true)
    assert.ok(toldIn(answer, true).error.message.endsWith(SAYS))
    assert.ok(call.exception?.endsWith(SAYS))
  })

  it('is none in an event of the upstream’s own, after which the answer goes on', async () => {
    for (const data of [
      '{"type":"status","status":"processing","message":"Still thinking"}',
      'still thinking',
    ]) {
      const whole = [{ content: 'o' }, { content: 'k' }].map((part) =>
        event(JSON.stringify(does.chunkOf('chat-1', [does.delta(0, part)], null))),
      )
      const text = `${event(data)}${whole[0]!}${event(data)}${whole[1]!}${event('[DONE]')}`
      const { answer, call } = await failed(does.sendingRaw('text/event-stream', text), true)
      assert.equal(answer.status, 200)
      assert.equal(call.exception, null)
    }
  })

  it('is of no interest after [DONE]', async () => {
    for (const late of [
      '{"error":{"message":"too late"}}',
      '{"choices":[{',
      'too late',
      '{"Message":"too late"}',
    ])
      for (const stream of [false, true]) {
        const whole = JSON.stringify(does.chunkOf('chat-1', [does.delta(0, { content: 'ok' }, 'stop')], null))
        const usage = JSON.stringify(does.chunkOf('chat-1', [], does.usageOf(12, 3)))
        const text =
          event(whole) + event('[DONE]') + event(late) + `event: error\n${event(late)}` + event(usage)
        const { answer, call } = await failed(does.sendingRaw('text/event-stream', text), stream)
        assert.equal(answer.status, 200, answer.text)
        assert.equal(call.exception, null)
        assert.equal(call.summary.tallytree?.metering, 'reported')
        if (stream) assert.equal(eventsIn(answer.text).at(-1), '[DONE]')
      }
  })

  it('quotes nothing of bytes that cannot be read', async () => {
    for (const headers of [{ 'content-encoding': 'zstd' }, {}]) {
      const bytes = gzipSync(JSON.stringify({ error: { message: SAYS } }))
      const { answer } = await failed(
        (_, response) => void response.writeHead(429, headers).end(bytes),
        false,
      )
      assert.equal(toldIn(answer, false).error.message, 'The upstream answered with status 429.')
    }
  })
})
