import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI from 'openai'
import { openTestClickHouse } from '../../support/engine.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'
import * as does from '../../support/upstreams/behaviours.js'
import { MESSAGES, startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import type { Behaviour } from '../../support/upstreams/upstream.js'
import { someProject } from '../shared-service.js'

const KEEP_ALIVE = { headAfterMs: 300, everyMs: 200 }
const COMMENT = ': keep-alive'

describe('a streamed completion whose upstream is silent', () => {
  let service: TestService
  let gateway: Gateway
  before(async () => {
    service = await startTestService({}, openTestClickHouse, (config) => ({
      ...config,
      upstreams: { ...config.upstreams, keepAlive: KEEP_ALIVE },
    }))
    gateway = await startGateway(service, { upstream: { timeouts: { first_byte_ms: 1000, idle_ms: 1000 } } })
  })
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })

  const delayed =
    (ms: number, behaviour: Behaviour): Behaviour =>
    async (...request) => {
      await sleep(ms)
      await behaviour(...request)
    }

  const asked = async (behaviour: Behaviour, signal?: AbortSignal) => {
    gateway.upstream.behave(behaviour)
    const project = someProject()
    const since = performance.now()
    const response = await fetch(`${service.address}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ADMINISTRATOR_KEY}`,
        'content-type': 'application/json',
        'openai-project': project,
      },
      body: JSON.stringify({ model: gateway.model, messages: MESSAGES, stream: true }),
      ...(signal === undefined ? {} : { signal }),
    })
    return { project, response, headAfterMs: performance.now() - since }
  }

  /** The comments and the data of a stream, in order; many comments in a row are one. */
  const partsOf = (text: string): readonly string[] => {
    const parts = text.split('\n\n')
    assert.equal(parts.pop(), '', 'the last event is whole')
    return parts.filter((part, at) => part !== COMMENT || parts[at - 1] !== COMMENT)
  }

  it('is sent its head, and then comments until the first event', async () => {
    const { response, headAfterMs, project } = await asked(delayed(900, does.saying(['Hello'])))
    assert.ok(headAfterMs >= 290 && headAfterMs < 890, `${headAfterMs} ms`)
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    const text = await response.text()
    assert.ok(text.split(COMMENT).length > 2, text)
    const [first, ...rest] = partsOf(text)
    assert.equal(first, COMMENT)
    assert.ok(rest.every((part) => part.startsWith('data: ')))
    assert.equal(rest.at(-1), 'data: [DONE]')
    assert.equal((await gateway.ended(project))[0]?.exception, null)
  })

  it('is sent comments between events', async () => {
    const pausing = does.beginningWith(['Hel'], async (response, model) => {
      await sleep(600)
      does.sendEvent(response, does.chunkOf(model, [does.delta(0, { content: 'lo' }, 'stop')], null))
      response.end('data: [DONE]\n\n')
    })
    const { response, headAfterMs } = await asked(pausing)
    assert.ok(headAfterMs < 300, `${headAfterMs} ms`)
    const parts = partsOf(await response.text())
    assert.deepEqual(
      parts.map((part) => part.slice(0, 5)),
      ['data:', 'data:', COMMENT.slice(0, 5), 'data:', 'data:'],
    )
  })

  const failures: readonly (readonly [string, Behaviour, RegExp])[] = [
    ['sends no head in time', does.hanging, /"code":"upstream_timeout"/],
    ['sends no event in time', does.sendingHead, /"code":"upstream_timeout"/],
    ['answers with an error', delayed(500, does.failingWith(503, 'still loading')), /still loading/],
    ['closes the connection', delayed(500, does.resetting), /"code":"upstream_error"/],
    ['answers with no stream', delayed(500, does.refusing(200, {})), /the stream has no completion/],
    [
      'reports an error in its stream',
      delayed(500, does.sendingRaw('text/event-stream', 'event: error\ndata: still loading\n\n')),
      /still loading/,
    ],
  ]
  for (const [what, behaviour, told] of failures)
    it(`ends with one error event when the upstream ${what} after the head was sent`, async () => {
      const { response, project } = await asked(behaviour)
      assert.equal(response.status, 200)
      const parts = partsOf(await response.text())
      assert.equal(parts.length, 2)
      assert.equal(parts[0], COMMENT)
      assert.match(parts[1]!, told)
      const { error } = JSON.parse(parts[1]!.slice('data: '.length)) as { error: { message: string } }
      const [call] = await gateway.ended(project)
      assert.equal(call?.exception, error.message)
      assert.equal(call.summary.tallytree?.metering, 'unknown')
    })

  it('is answered with a status when the upstream fails before the head was sent', async () => {
    const { response } = await asked(does.failingWith(503, 'still loading'))
    assert.equal(response.status, 502)
    assert.match(await response.text(), /still loading/)
  })

  it('ends at the upstream when the client leaves after the head was sent', async () => {
    for (const behaviour of [does.hanging, does.sendingHead]) {
      const leaving = new AbortController()
      const { project } = await asked(behaviour, leaving.signal)
      leaving.abort()
      assert.equal(await gateway.upstream.arrivals.at(-1)?.left, true)
      const [call] = await gateway.ended(project)
      assert.deepEqual([call?.exception, call?.summary.tallytree?.['cancelled']], [null, true])
    }
  })

  it('is read by the openai client', async () => {
    gateway.upstream.behave(delayed(500, does.saying(['Hel', 'lo'])))
    const client = new OpenAI({
      apiKey: ADMINISTRATOR_KEY,
      baseURL: `${service.address}/v1`,
      project: someProject(),
      maxRetries: 0,
    })
    const request = { model: gateway.model, messages: [{ role: 'user', content: 'Say hello' }] } as const
    const answer = client.chat.completions.stream({ ...request, messages: [...request.messages] })
    assert.equal((await answer.finalChatCompletion()).choices[0]?.message.content, 'Hello')
    gateway.upstream.behave(delayed(500, does.failingWith(503, 'still loading')))
    const failing = client.chat.completions.stream({ ...request, messages: [...request.messages] })
    await assert.rejects(failing.finalChatCompletion(), /still loading/)
  })
})
