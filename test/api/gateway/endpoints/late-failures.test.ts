import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { APIS } from '../../../../src/domain/gateway/upstreams/apis.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { startTestService, type TestService } from '../../../support/service.js'
import { startGateway, type Gateway } from '../../../support/upstreams/gateway.js'
import {
  EVENT_APIS,
  JSON_TYPE,
  sendingPieces,
  typesIn,
  valuesIn,
} from '../../../support/upstreams/samples.js'
import { someProject } from '../../shared-service.js'

describe('an upstream that fails once the head of the stream was sent', () => {
  let service: TestService
  let gateway: Gateway
  before(async () => {
    service = await startTestService({}, openTestClickHouse, (config) => ({
      ...config,
      upstreams: { ...config.upstreams, keepAlive: { headAfterMs: 1, everyMs: 20 } },
    }))
    gateway = await startGateway(service, { upstream: { apis: APIS } })
  })
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })

  const ask = async (api: keyof typeof EVENT_APIS) => {
    const overloaded = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
    gateway.upstream.behave(async (...request) => {
      await sleep(200)
      await sendingPieces(JSON_TYPE, overloaded, undefined, 529)(...request)
    })
    const project = someProject()
    const { path, request } = EVENT_APIS[api]
    const body = { ...request, model: gateway.model, stream: true }
    const answer = await service.post(path, body, { headers: { 'openai-project': project } })
    const [call] = await gateway.ended(project)
    return { ...answer, call: call!, values: valuesIn(answer.text) }
  }

  it('is an error event of Messages, with the id of the request', async () => {
    const { status, text, headers, call, values } = await ask('messages')
    assert.equal(status, 200)
    assert.match(text, /^: keep-alive\n\n/)
    assert.deepEqual(typesIn(text), ['error'])
    const [{ error, request_id }] = values as readonly [{ error: JsonObject; request_id: string }]
    assert.equal(error['type'], 'overloaded_error')
    assert.match(error['message'] as string, /Overloaded/)
    assert.equal(request_id, headers.get('request-id') ?? headers.get('x-request-id'))
    assert.equal(call.summary.tallytree?.metering, 'unknown')
  })

  it('is a failed response, numbered from the beginning', async () => {
    const { status, text, call, values } = await ask('responses')
    assert.equal(status, 200)
    assert.deepEqual(typesIn(text), ['error', 'response.failed'])
    assert.deepEqual(
      values.map(({ sequence_number }) => sequence_number),
      [0, 1],
    )
    const { id, model, status: state, error, output } = values[1]!['response'] as JsonObject
    assert.deepEqual([id, model, state, output], [`resp_${call.id}`, gateway.model, 'failed', []])
    assert.match((error as { message: string }).message, /Overloaded/)
  })
})
