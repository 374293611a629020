import assert from 'node:assert/strict'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { startTestService, type TestService } from '../../support/service.js'
import { saying } from '../../support/upstreams/behaviours.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { accepted } from '../calls/given.js'

const price = { prompt_token_cost: '0.0000012', completion_token_cost: '0.00001' }

describe('the headers and the call of a completion', () => {
  let service: TestService
  let gateway: Gateway
  before(async () => {
    service = await startTestService()
    gateway = await startGateway(service, {
      id: 'acme/priced',
      upstream: { models: [{ id: 'acme/priced', upstream_id: 'chat-1', price }] },
    })
  })
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })
  beforeEach(() => gateway.upstream.behave(saying(['Hello', ', ', 'world'])))

  const lastHeaders = () => gateway.upstream.arrivals.at(-1)!.headers

  it('forwards traceparent and x-request-id unchanged when the client sends them', async () => {
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`
    for (const stream of [false, true]) {
      await gateway.complete({ stream }, { headers: { traceparent, 'x-request-id': 'request-7' } })
      assert.equal(lastHeaders()['traceparent'], traceparent)
      assert.equal(lastHeaders()['x-request-id'], 'request-7')
    }
    await gateway.complete()
    assert.equal(lastHeaders()['traceparent'], undefined)
    assert.equal(lastHeaders()['x-request-id'], undefined)
  })

  it('answers the exact cost with Tallytree-Cost, unless the answer is streamed', async () => {
    const whole = await gateway.complete()
    const { usage } = JSON.parse(whole.text) as {
      usage: { prompt_tokens: number; completion_tokens: number }
    }
    const expected = (usage.prompt_tokens * 12 + usage.completion_tokens * 100) / 1e7
    assert.equal(Number(whole.headers.get('tallytree-cost')), expected)
    const streamed = await gateway.complete({ stream: true })
    assert.equal(streamed.status, 200)
    assert.equal(streamed.headers.get('tallytree-cost'), null)
  })

  it('leaves Tallytree-Cost out when the model has no price', async () => {
    const free = await startGateway(service)
    const answer = await free.complete()
    await free.upstream.close()
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('tallytree-cost'), null)
  })

  it('does not read the call again to end it, unless another writer changed it meanwhile', async () => {
    const store = service.stores.eventStore as { readStream: EventStore['readStream'] }
    const readStream = store.readStream.bind(store)
    const read: string[] = []
    store.readStream = (stream, options) => {
      read.push(stream)
      return readStream(stream, options)
    }
    try {
      const project = 'acme/known'
      const headers = { 'openai-project': project }
      const first = await gateway.complete({}, { headers })
      const firstId = first.headers.get('tallytree-call-id')!
      await gateway.ended(project)
      assert.deepEqual(
        read.filter((stream) => stream.includes(firstId)),
        [],
      )
      const answer = saying(['Hello'])
      gateway.upstream.behave(async (body, response, request) => {
        for await (const { type, data } of service.stores.eventStore.readAll({}))
          if (type === 'CallStarted' && data['project_id'] === project && data['id'] !== firstId)
            accepted(
              await service.post('/call/update', {
                project_id: project,
                call_id: data['id'],
                display_name: 'renamed',
              }),
            )
        await answer(body, response, request)
      })
      const second = await gateway.complete({}, { headers })
      assert.equal(second.status, 200)
      const ended = (await gateway.ended(project, 2)).find(({ id }) => id !== firstId)
      assert.equal(ended?.summary.tallytree?.metering, 'reported')
      assert.ok(read.some((stream) => stream.includes(ended.id)))
    } finally {
      store.readStream = readStream
    }
  })
})
