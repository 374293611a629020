import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { APIS } from '../../../../src/domain/gateway/upstreams/apis.js'
import { startGateway, type Gateway } from '../../../support/upstreams/gateway.js'
import {
  EVENT_APIS,
  EVENTS,
  JSON_TYPE,
  messageOf,
  partsOf,
  sendingPieces,
  streamOf,
  textOf,
  typesIn,
  valuesIn,
} from '../../../support/upstreams/samples.js'
import { sharedService, someProject } from '../../shared-service.js'

for (const [api, { path, request, answerOf, error }] of Object.entries(EVENT_APIS))
  describe(`the stream of an upstream that fails, in the API ${api}`, () => {
    const good = answerOf('Hello')
    const whole = streamOf(...good.head, good.text, ...good.rest)
    let first: Gateway
    let second: Gateway
    before(async () => {
      const service = await sharedService()
      const id = `acme/failing-${randomUUID()}`
      const upstream = { apis: APIS }
      first = await startGateway(service, { id, upstream })
      second = await startGateway(service, { id, upstream: { ...upstream, weight: 0 } })
      second.upstream.behave(sendingPieces(EVENTS, whole))
    })
    after(async () => {
      await first.upstream.close()
      await second.upstream.close()
    })

    const ask = async (more: JsonObject = {}) => {
      const project = someProject()
      const body = { model: first.model, stream: true, ...request, ...more }
      const answer = await first.service.post(path, body, { headers: { 'openai-project': project } })
      const [call] = await first.ended(project)
      const tries = call!.summary.tallytree!['tries'] as readonly { outcome: string }[]
      return { ...answer, call: call!, outcomes: tries.map(({ outcome }) => outcome) }
    }

    const failures: Readonly<Record<string, string>> = {
      'an error after the head': streamOf(...good.head.slice(0, 2), error),
      'an error after an empty part': streamOf(...good.head, error),
      'an error without a type after the head': `${streamOf(good.head[0]!)}data: {"error":{"message":"Overloaded"}}\n\n`,
      'nothing after the head': streamOf(...good.head),
      'nothing at all': '',
    }
    for (const [what, stream] of Object.entries(failures))
      it(`is replaced by the one of the next upstream: ${what}`, async () => {
        first.upstream.behave(sendingPieces(EVENTS, whole))
        assert.deepEqual((await ask()).outcomes, ['answered'])
        first.upstream.behave(sendingPieces(EVENTS, stream))
        const { status, text, call, outcomes } = await ask()
        assert.equal(status, 200)
        assert.deepEqual(outcomes, ['no completion', 'answered'])
        assert.deepEqual(typesIn(text), typesIn(whole))
        assert.deepEqual([call.exception, textOf(call.output)], [null, 'Hello'])
      })

    it('ends with an error event after content, with the text so far and an estimate in the record', async () => {
      for (const end of [streamOf(error), 'data: {"error":{"message":"Overloaded"}}\n\n', '']) {
        first.upstream.behave(sendingPieces(EVENTS, streamOf(...good.head, good.text) + end))
        const { status, text, call, outcomes } = await ask()
        assert.equal(status, 200)
        assert.deepEqual(outcomes, ['answered'])
        const [before, after] = [good.head.length + 1, typesIn(text)]
        assert.deepEqual(after.slice(before), api === 'responses' ? ['error', 'response.failed'] : ['error'])
        const last = JSON.stringify(valuesIn(text).at(-1))
        const said = end === '' ? /ended without/ : /Overloaded/
        assert.match(last, said)
        assert.match(call.exception!, said)
        assert.equal(textOf(call.output), 'Hello')
        const { metering } = call.summary.tallytree!
        const usage = call.summary.usage?.[first.model]
        assert.deepEqual([metering, usage?.['completion_tokens']], ['estimated', 2])
        if (api === 'messages') assert.equal(usage?.['prompt_tokens'], 12)
      }
    })

    it('continues the numbers of the events, and keeps the id of the response', async () => {
      first.upstream.behave(sendingPieces(EVENTS, streamOf(...good.head, good.text, error)))
      const values = valuesIn((await ask()).text)
      if (api === 'messages') return
      assert.deepEqual(
        values.map(({ sequence_number }) => sequence_number),
        [0, 1, 2, 3, 4, 5],
      )
      const responses = values.flatMap(({ response }) =>
        response === undefined ? [] : [response as JsonObject],
      )
      assert.deepEqual(new Set(responses.map(({ id }) => id)), new Set(['resp_1']))
      assert.deepEqual(new Set(responses.map(({ model }) => model)), new Set([first.model]))
    })

    it('is made of a whole answer that is JSON, also on a line of its own', async () => {
      for (const end of ['', '\n']) {
        first.upstream.behave(sendingPieces(JSON_TYPE, JSON.stringify(good.whole) + end, [50]))
        const { status, text, call } = await ask()
        assert.equal(status, 200)
        assert.equal(typesIn(text)[0], good.head[0]!.type)
        assert.equal(typesIn(text).at(-1), good.rest.at(-1)!.type)
        assert.deepEqual([call.exception, textOf(call.output)], [null, 'Hello'])
        assert.equal(call.summary.usage?.[first.model]?.['total_tokens'], 16)
      }
    })

    it('is made of a whole answer that has members with the names of errors', async () => {
      const error = { message: 'no such city', error: 'not found' }
      const part =
        api === 'messages'
          ? { type: 'tool_use', id: 'toolu_1', name: 'report', input: error }
          : { type: 'mcp_call', id: 'mcp_1', name: 'report', arguments: '{}', ...error }
      const answer = { ...good.whole, [api === 'messages' ? 'content' : 'output']: [part] }
      for (const end of ['', '\n']) {
        first.upstream.behave(sendingPieces(JSON_TYPE, JSON.stringify(answer) + end))
        for (const stream of [true, false]) {
          const { status, text, call } = await ask({ stream })
          assert.equal(status, 200, text)
          assert.deepEqual(partsOf(call.output), [part])
        }
      }
    })

    it('is an answer with the error of the upstream where that is JSON', async () => {
      for (const end of ['', '\n']) {
        for (const one of [first, second])
          one.upstream.behave(sendingPieces(JSON_TYPE, `{"error":{"message":"Overloaded"}}${end}`))
        for (const stream of [true, false]) {
          const { status, text, call, outcomes } = await ask({ stream })
          assert.equal(status, 502)
          assert.match(text, /Overloaded/)
          assert.match(call.exception!, /Overloaded/)
          assert.deepEqual(outcomes, ['no completion', 'no completion'])
        }
        // A fault of its own each time, not one in a row.
        for (const one of [first, second]) one.upstream.behave(sendingPieces(EVENTS, whole))
        await ask()
      }
    })
  })

describe('a message with several message_delta events', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService(), { upstream: { apis: APIS } })))
  after(() => gateway.upstream.close())

  it('has the last stop reason and the last figures', async () => {
    const { head, text, rest } = messageOf('Hello')
    const [stop, delta, end] = rest
    const first = { ...delta, delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }
    const last = { ...delta, usage: { input_tokens: 12, output_tokens: 4 } }
    gateway.upstream.behave(sendingPieces(EVENTS, streamOf(...head, text, stop!, first, last, end!)))
    for (const stream of [true, false]) {
      const project = someProject()
      const { path, request } = EVENT_APIS.messages
      const body = { ...request, model: gateway.model, stream }
      await gateway.service.post(path, body, { headers: { 'openai-project': project } })
      const [call] = await gateway.ended(project)
      const { stop_reason, stop_sequence, usage, content } = call!.output!
      assert.deepEqual([stop_reason, stop_sequence], ['end_turn', null])
      assert.deepEqual(usage, { input_tokens: 12, output_tokens: 4 })
      assert.deepEqual(content, [{ type: 'text', text: 'Hello' }])
      assert.equal(call!.summary.usage?.[gateway.model]?.['completion_tokens'], 4)
    }
  })
})
