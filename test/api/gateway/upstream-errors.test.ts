import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answered } from '../../support/client.js'
import * as does from '../../support/upstreams/behaviours.js'
import { eventsIn, startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import type { Behaviour } from '../../support/upstreams/upstream.js'
import { sharedService } from '../shared-service.js'
import { accepted } from '../calls/given.js'

const SECRET = 'sk-upstream-0123456789abcdef'
const MESSAGE = 'The model chat-1 is loading'

const messageIn = (answer: Answered): string => answer.json<{ error: { message: string } }>().error.message

describe('the errors of an upstream', () => {
  const team = `team-${randomUUID().slice(0, 8)}`
  const project = `${team}/project`
  let gateway: Gateway
  let ended = 0
  before(async () => {
    const service = await sharedService()
    await service.teams.create(team).json()
    accepted(await service.send('PUT', `/api/teams/${team}/secrets/KEY`, { value: SECRET }))
    gateway = await startGateway(service, { id: `${team}/chat`, upstream: { team, secret: 'KEY' } })
  })
  after(() => gateway.upstream.close())

  const failed = async (behaviour: Behaviour, body: object = {}, headers = {}) => {
    gateway.upstream.behave(behaviour)
    const before = gateway.service.logged.length
    const answer = await gateway.complete(body, { headers: { 'openai-project': project, ...headers } })
    ended += 1
    const call = (await gateway.ended(project, ended)).at(-1)!
    return {
      answer,
      call,
      logged: gateway.service.logged.slice(before).filter(({ event }) => event === 'gateway.upstream_error'),
    }
  }

  /** Says its error, with the credential that it was sent. */
  const echoing =
    (behaviour: (message: string) => Behaviour): Behaviour =>
    (body, response, request) =>
      behaviour(`${MESSAGE}; you sent ${String(request.headers.authorization)}`)(body, response, request)

  const TOLD = `${MESSAGE}; you sent Bearer [secret]`

  for (const status of [400, 401, 402, 403, 404, 405, 409, 413, 422, 429, 451, 500, 503, 529])
    for (const stream of [false, true])
      it(`reach the client, the call and the log for a ${status}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const { answer, call, logged } = await failed(
          echoing((message) => does.failingWith(status, message)),
          { stream },
        )
        const message = messageIn(answer)
        assert.ok(message.endsWith(TOLD), message)
        assert.equal(call.exception, message)
        assert.equal(logged.length, 1)
        assert.deepEqual([logged[0]!['status'], logged[0]!['message']], [status, message])
        assert.ok(!JSON.stringify([answer.text, call, logged]).includes(SECRET))
      })

  const bodies: readonly (readonly [string, unknown])[] = [
    ['vLLM', { object: 'error', message: MESSAGE, type: 'NotFoundError', param: null, code: 404 }],
    ['FastAPI', { detail: MESSAGE }],
    ['a text as error', { error: MESSAGE }],
    ['Gemini', [{ error: { code: 503, message: MESSAGE, status: 'UNAVAILABLE' } }]],
    ['an error beside the whole request', { error: { message: MESSAGE }, input: 'x'.repeat(100_000) }],
  ]
  for (const [form, body] of bodies)
    it(`are read in the form of ${form}`, async () => {
      const { answer } = await failed(does.refusing(503, body))
      assert.equal(messageIn(answer), `The upstream answered with status 503: ${MESSAGE}`)
    })

  it('are read as plain text, but not as HTML', async () => {
    const says = (type: string, text: string): Behaviour => {
      return (_, response) => void response.writeHead(503, { 'content-type': type }).end(text)
    }
    const plain = await failed(says('text/plain', `${MESSAGE}\n`))
    assert.equal(messageIn(plain.answer), `The upstream answered with status 503: ${MESSAGE}`)
    const html = await failed(says('text/html', `<html>${MESSAGE}</html>`))
    assert.equal(messageIn(html.answer), 'The upstream answered with status 503.')
  })

  for (const stream of [false, true])
    it(`are read where the status is 200 and the body JSON, ${stream ? 'streamed' : 'whole'}`, async () => {
      const { answer, call, logged } = await failed(
        echoing((message) => does.refusing(200, { error: { message, code: 503 } })),
        { stream },
      )
      assert.equal(answer.status, 502)
      assert.equal(messageIn(answer), `The upstream reported an error: ${TOLD}`)
      assert.equal(call.exception, messageIn(answer))
      assert.equal(call.summary.tallytree?.['owed'], false)
      assert.equal(logged[0]?.['message'], messageIn(answer))
    })

  const streams: readonly (readonly [string, (message: string) => string])[] = [
    ['an error in an event', (message) => `data: ${JSON.stringify({ error: { message } })}\n\n`],
    [
      'an event of vLLM',
      (message) => `data: ${JSON.stringify({ object: 'error', message, code: 500 })}\n\ndata: [DONE]\n\n`,
    ],
    [
      'an event called error',
      (message) => `event: error\ndata: ${JSON.stringify({ error: { message } })}\n\n`,
    ],
    ['an event called error with text', (message) => `event: error\ndata: ${message}\n\n`],
  ]
  for (const [form, write] of streams) {
    it(`are read in a stream as ${form}, before anything else`, async () => {
      const behaviour = echoing((message) => does.sendingRaw('text/event-stream', write(message)))
      const { answer, call, logged } = await failed(behaviour, { stream: true })
      assert.equal(answer.status, 502)
      assert.equal(messageIn(answer), `The upstream reported an error: ${TOLD}`)
      assert.equal(call.exception, messageIn(answer))
      assert.equal(call.summary.tallytree?.['owed'], false)
      assert.equal(logged[0]?.['message'], messageIn(answer))
    })

    it(`are read in a stream as ${form}, after its beginning`, async () => {
      const behaviour = echoing((message) =>
        does.beginningWith(['Hel', 'lo'], (response) => response.end(write(message))),
      )
      const { answer, call, logged } = await failed(behaviour, { stream: true })
      assert.equal(answer.status, 200)
      const { error } = JSON.parse(eventsIn(answer.text).at(-1)!) as { error: { message: string } }
      assert.equal(error.message, `The upstream reported an error: ${TOLD}`)
      assert.equal(call.exception, error.message)
      assert.equal(call.summary.tallytree?.['owed'], undefined)
      assert.equal(logged[0]?.['message'], error.message)
    })
  }

  it('are cut where they are long, after the credential was redacted', async () => {
    const long = echoing((message) => does.failingWith(400, `${'x'.repeat(1960)} ${message}`))
    const { answer } = await failed(long)
    const message = messageIn(answer)
    assert.equal(message.length, 2001)
    assert.ok(message.endsWith('…') && !message.includes('sk-'), message)
    const inStream = does.sendingRaw(
      'text/event-stream',
      `data: ${JSON.stringify({ error: { message: 'y'.repeat(1_000_000), code: 'z'.repeat(9999) } })}\n\n`,
    )
    assert.ok((await failed(inStream, { stream: true })).answer.text.length < 10_000)
  })

  it('reach the client alone where no content is recorded, as they may quote it', async () => {
    const unrecorded = { 'tallytree-record': 'metadata' }
    for (const [behaviour, told] of [
      [does.failingWith(401, MESSAGE), 'The upstream answered with status 401.'],
      [does.failingWith(400, MESSAGE), 'The upstream answered with status 400.'],
      [does.refusing(200, { error: MESSAGE }), 'The upstream reported an error.'],
    ] as const) {
      const { answer, call, logged } = await failed(behaviour, {}, unrecorded)
      assert.ok(messageIn(answer).endsWith(MESSAGE))
      assert.equal(call.exception, told)
      assert.equal(logged[0]?.['message'], told)
    }
  })

  for (const status of [400, 401, 402, 403, 404, 405, 409, 415, 422, 451])
    it(`are not to be tried again for a ${status}`, async () => {
      const { answer } = await failed(does.failingWith(status, MESSAGE))
      assert.equal(answer.headers.get('x-should-retry'), 'false')
    })

  it('are not to be tried again where the quota is used up, whatever the status', async () => {
    const spent = { error: { message: MESSAGE, type: 'insufficient_quota', code: 'insufficient_quota' } }
    for (const behaviour of [
      does.refusing(429, spent),
      does.refusing(500, spent),
      does.refusing(200, spent),
      does.refusing(429, { error: { message: MESSAGE, code: 'insufficient_quota' } }),
    ])
      assert.equal((await failed(behaviour)).answer.headers.get('x-should-retry'), 'false')
    const slow = await failed(does.failingWith(429, MESSAGE))
    assert.equal(slow.answer.headers.get('x-should-retry'), 'true')
  })
})
