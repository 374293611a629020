import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { itInFull } from '../../counts.js'
import * as does from '../../support/upstreams/behaviours.js'
import { chunksIn, eventsIn, MESSAGES, startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { ADMINISTRATOR_KEY } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { until } from '../../support/until.js'

const contentOf = (chunks: readonly JsonObject[], index = 0): string =>
  chunks
    .flatMap(({ choices }) => choices as readonly JsonObject[])
    .filter((choice) => choice['index'] === index)
    .map(({ delta }) => (delta as { content?: string }).content ?? '')
    .join('')

describe('streamed completions', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService())))
  after(() => gateway.upstream.close())

  const streamed = async (body: object = {}, project = someProject()) => {
    const answer = await gateway.complete(
      { stream: true, ...body },
      { headers: { 'openai-project': project } },
    )
    const [call] = await gateway.ended(project)
    return { ...answer, call: call! }
  }

  /** Opens a stream and answers its response, of which nothing is read yet. */
  const open = async (project: string, { service, model } = gateway) => {
    const sent = request(`${service.address}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ADMINISTRATOR_KEY}`,
        'content-type': 'application/json',
        'openai-project': project,
      },
    })
    sent.on('error', () => undefined)
    sent.end(JSON.stringify({ model, messages: MESSAGES, stream: true }))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.on('error', () => undefined)
    return { sent, response }
  }

  it('are recorded as the whole answer that they stand for, with how it went', async () => {
    gateway.upstream.behave(does.saying(['Hello', ', ', 'world'], undefined, { pauseMs: 5 }))
    const { text, call } = await streamed()
    const chunks = chunksIn(text)
    assert.equal(contentOf(chunks), 'Hello, world')
    assert.ok(chunks.every(({ model }) => model === gateway.model))
    const [choice] = call.output?.['choices'] as readonly JsonObject[]
    assert.deepEqual(choice, {
      index: 0,
      message: { role: 'assistant', content: 'Hello, world' },
      finish_reason: 'stop',
    })
    const { latency_ms, time_to_first_token_ms, upstream, tries, metering } = call.summary.tallytree!
    assert.equal(metering, 'reported')
    assert.ok(Number.isInteger(latency_ms) && Number.isInteger(time_to_first_token_ms))
    assert.ok(Number(time_to_first_token_ms) <= Number(latency_ms))
    assert.equal(typeof upstream, 'string')
    assert.deepEqual(tries, [{ upstream, outcome: 'answered' }])
    assert.equal(call.summary.usage?.[gateway.model]?.['total_tokens'], 14)
    assert.equal(call.exception, null)
  })

  it('show the usage to those who ask for it alone, and keep the other options', async () => {
    gateway.upstream.behave(does.saying(['Hello']))
    for (const chunk of chunksIn((await streamed()).text)) {
      assert.ok(!('usage' in chunk))
      assert.equal((chunk['choices'] as unknown[]).length, 1)
    }
    const asked = await streamed({ stream_options: { include_usage: true, include_obfuscation: false } })
    assert.deepEqual(gateway.upstream.arrivals.at(-1)?.body['stream_options'], {
      include_usage: true,
      include_obfuscation: false,
    })
    const chunks = chunksIn(asked.text)
    assert.deepEqual(chunks.at(-1)?.['choices'], [])
    assert.deepEqual(chunks.at(-1)?.['usage'], does.usageOf(11, 1))
    assert.ok(chunks.slice(0, -1).every(({ usage }) => usage === null))
  })

  it('are complete once every choice is, and then end with [DONE] whether or not it came', async () => {
    for (const says of ['done', 'nothing'] as const) {
      gateway.upstream.behave(does.saying(['a', 'b'], undefined, { choices: 3, says }))
      const { text, call } = await streamed({ n: 3 })
      for (const index of [0, 1, 2]) assert.equal(contentOf(chunksIn(text), index), 'ab')
      assert.equal((call.output?.['choices'] as unknown[]).length, 3)
      assert.equal(call.summary.tallytree?.metering, 'reported')
    }
    gateway.upstream.behave(does.saying(['a'], undefined, { choices: 1, says: 'done' }))
    assert.equal((await streamed({ n: 2 })).call.exception, null)
    gateway.upstream.behave(does.saying(['a'], undefined, { choices: 1, says: 'nothing' }))
    assert.notEqual((await streamed({ n: 2 })).call.exception, null)
  })

  it('are estimated, and say so, where the upstream reports no usage', async () => {
    gateway.upstream.behave(does.saying(['Hello', ', ', 'world'], null))
    for (const stream of [true, false]) {
      const { call } = await streamed({ stream })
      assert.equal(call.summary.tallytree?.metering, 'estimated')
      const usage = call.summary.usage?.[gateway.model]
      assert.equal(usage?.['completion_tokens'], 3)
      assert.equal(usage['prompt_tokens'], Math.ceil(JSON.stringify(MESSAGES).length / 4))
      assert.equal(call.exception, null)
    }
  })

  for (const [how, then] of Object.entries(does.behind))
    if (how !== 'silence')
      it(`that break off (${how}) are told so in exactly one last event`, async () => {
        gateway.upstream.behave(does.beginningWith(['Hel', 'lo'], then))
        const { status, text, call } = await streamed()
        assert.equal(status, 200)
        const events = eventsIn(text)
        assert.equal(contentOf(events.slice(0, -1).map((event) => JSON.parse(event) as JsonObject)), 'Hello')
        const { error } = JSON.parse(events.at(-1)!) as { error: { message: string; code: string } }
        assert.equal(error.code, 'upstream_error')
        assert.equal(call.exception, error.message)
        assert.equal(call.summary.tallytree?.metering, 'estimated')
        assert.equal(call.summary.usage?.[gateway.model]?.['completion_tokens'], 2)
        assert.deepEqual(call.output?.['choices'], [
          { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: null },
        ])
      })

  it('skip what is no chunk, and are complete with [DONE] whether or not there was a reason', async () => {
    const long = 'x'.repeat(5 * 1024 * 1024)
    gateway.upstream.behave((body, response) => {
      const model = body['model'] as string
      does.beginStream(response)
      response.write(': comment\n\nevent: ping\ndata: {"type": "ping"}\n\ndata: ping\n\n')
      does.sendEvent(
        response,
        does.chunkOf(model, [does.delta(0, { role: 'assistant', content: 'a' })], null),
      )
      does.sendEvent(response, { id: 'x', choices: null })
      does.sendEvent(
        response,
        does.chunkOf(model, [{ ...does.delta(0, { content: long }), index: '0' }], null),
      )
      response.write('data: [DONE]\n\n')
      does.sendEvent(response, does.chunkOf(model, [], does.usageOf(11, 7)))
      response.end()
    })
    const { status, text, call } = await streamed()
    assert.equal(status, 200)
    assert.equal(contentOf(chunksIn(text).slice(0, 1)), 'a')
    assert.equal(chunksIn(text).length, 2)
    assert.deepEqual([call.exception, call.summary.tallytree?.metering], [null, 'reported'])
    assert.equal(call.summary.usage?.[gateway.model]?.['completion_tokens'], 7)
    assert.ok(text.includes(long))
  })

  it('that fall silent are told so: with a status before the first event, and in a last event behind it', async () => {
    const impatient = await startGateway(await sharedService(), {
      upstream: { timeouts: { first_byte_ms: 4000, idle_ms: 3000 } },
    })
    for (const behaviour of [
      does.hanging,
      does.sendingHead,
      does.beginningWith(['Hel', 'lo'], does.behind.silence),
    ]) {
      impatient.upstream.behave(behaviour)
      const project = someProject()
      const { status, text } = await impatient.complete(
        { stream: true },
        { headers: { 'openai-project': project } },
      )
      const hasBegun = behaviour !== does.hanging && behaviour !== does.sendingHead
      assert.equal(status, hasBegun ? 200 : 504)
      assert.match(hasBegun ? eventsIn(text).at(-1)! : text, /"code":"upstream_timeout"/)
      const [call] = await impatient.ended(project)
      assert.equal(call?.summary.tallytree?.metering, hasBegun ? 'estimated' : 'unknown')
    }
    await impatient.upstream.close()
  })

  it('keep the calls of tools, their names and arguments', async () => {
    gateway.upstream.behave(does.calling('weather', { city: 'Köln', days: 3 }))
    const { call } = await streamed()
    const [choice] = call.output?.['choices'] as readonly { message: JsonObject; finish_reason: string }[]
    assert.equal(choice?.finish_reason, 'tool_calls')
    assert.deepEqual(choice.message['tool_calls'], [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Köln","days":3}' },
      },
    ])
  })

  it('end at the upstream as soon as the client leaves, and are then an estimate', async () => {
    gateway.upstream.behave(does.beginningWith(['Hel', 'lo'], does.behind.silence))
    const project = someProject()
    const { sent, response } = await open(project)
    await once(response, 'data')
    sent.destroy()
    assert.equal(await gateway.upstream.arrivals.at(-1)?.left, true)
    const [call] = await gateway.ended(project)
    assert.deepEqual([call?.exception, call?.summary.tallytree?.['cancelled']], [null, true])
    assert.equal(call?.summary.tallytree?.metering, 'estimated')
  })

  it('end at the upstream also before anything came, whole ones too: nothing is known of what they used', async () => {
    for (const stream of [true, false]) {
      gateway.upstream.behave(does.hanging)
      const project = someProject()
      const leaving = new AbortController()
      const arrived = gateway.upstream.arrivals.length
      const left = fetch(`${gateway.service.address}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${ADMINISTRATOR_KEY}`,
          'content-type': 'application/json',
          'openai-project': project,
        },
        body: JSON.stringify({ model: gateway.model, messages: MESSAGES, stream }),
        signal: leaving.signal,
      }).catch(() => 'left')
      await until(() => gateway.upstream.arrivals.length > arrived)
      leaving.abort()
      assert.equal(await left, 'left')
      assert.equal(await gateway.upstream.arrivals.at(-1)?.left, true)
      const [call] = await gateway.ended(project)
      assert.deepEqual([call?.exception, call?.summary.tallytree?.['cancelled']], [null, true])
      assert.equal(call?.summary.tallytree?.metering, 'unknown')
      assert.equal(call.summary.usage, undefined)
    }
  })

  it('end at the upstream also where they wait behind another answer for their client', async () => {
    gateway.upstream.behave(does.hanging)
    const arrived = gateway.upstream.arrivals.length
    const body = JSON.stringify({ model: gateway.model, messages: MESSAGES, stream: true })
    const { hostname, port } = new URL(gateway.service.address)
    const socket = connect(Number(port), hostname)
    const asked =
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ADMINISTRATOR_KEY}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    socket.write(asked + asked)
    while (gateway.upstream.arrivals.length < arrived + 2) await new Promise(setImmediate)
    socket.destroy()
    for (const { left } of gateway.upstream.arrivals.slice(arrived)) assert.equal(await left, true)
  })

  it('are over some time after their upstream is done with them, also where nobody reads them', async () => {
    const brief = await startGateway(await sharedService(), {
      upstream: { timeouts: { idle_ms: 4000, total_ms: 5000 } },
    })
    brief.upstream.behave(does.endless(1_000_000, 16_384).behaviour)
    const project = someProject()
    const { response } = await open(project, brief)
    const [call] = await brief.ended(project)
    assert.match(call!.exception!, /did not read/)
    assert.equal(call?.summary.tallytree?.metering, 'estimated')
    const listed = await brief.service.send('GET', '/api/inference/upstreams')
    const { data } = listed.json<{ data: readonly { health: { models: readonly JsonObject[] } }[] }>()
    const served = data.flatMap(({ health }) => health.models).find(({ model }) => model === brief.model)
    assert.equal(served?.['faults_in_a_row'], 0, 'the upstream is not to blame')
    const closed = new Promise((resolve) => response.once('close', resolve))
    response.resume()
    await closed
    await brief.upstream.close()
  })

  it('leave the connection to their upstream whole where it ends them soon after it said that they are done', async () => {
    gateway.upstream.behave(async (body, response, request) => {
      const end = response.end.bind(response)
      response.end = () => response
      await does.saying(['Hello'])(body, response, request)
      setTimeout(end, 10)
    })
    await streamed()
    assert.equal(await gateway.upstream.arrivals.at(-1)?.left, false)
  })

  itInFull(
    'come no faster than they are read, however long they are, and are kept up to a limit',
    async () => {
      const words = 4000
      const { behaviour, progress } = does.endless(words, 16_384)
      gateway.upstream.behave(behaviour)
      const project = someProject()
      const { response } = await open(project)
      response.pause()
      let before = -1
      while (progress.sent !== before) {
        before = progress.sent
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
      assert.ok(
        progress.sent < words / 2,
        `${progress.sent} of ${words} were sent to a client that does not read`,
      )
      let bytes = 0
      response.on('data', (piece: Buffer) => (bytes += piece.length))
      response.resume()
      await once(response, 'end')
      assert.ok(bytes > words * 16_384)
      const [call] = await gateway.ended(project)
      assert.equal(call?.summary.tallytree?.metering, 'reported')
      assert.equal(call.summary.usage?.[gateway.model]?.['completion_tokens'], words)
      const recorded = call.spilled['output']?.size ?? 0
      assert.ok(recorded > 32_000_000 && recorded < 34_000_000, `${recorded} bytes are recorded`)
    },
  )
})

describe('what is recorded of completions', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService())))
  after(() => gateway.upstream.close())

  const record = async (project: string, level: string) => {
    const put = await gateway.service.send('PUT', `/api/projects/${project}`, { record: level })
    assert.equal(put.status, 200, put.text)
  }

  const isBare = async (project: string, headers: Record<string, string> = {}, body: object = {}) => {
    const before = (await gateway.ended(project, 0)).length
    await gateway.complete(body, { headers: { 'openai-project': project, ...headers } })
    const call = (await gateway.ended(project, before + 1)).at(-1)!
    assert.ok(call.summary.tallytree !== undefined)
    return Object.keys(call.inputs).length === 0 && call.output === null
  }

  it('is everything, unless the project or the request asks for less; a request never gets more', async () => {
    const project = someProject()
    assert.equal(await isBare(project), false)
    assert.equal(await isBare(project, { 'tallytree-record': 'metadata' }), true)
    assert.equal(await isBare(project, { 'tallytree-record': 'metadata' }, { stream: true }), true)
    await record(project, 'metadata')
    for (const stream of [false, true]) {
      assert.equal(await isBare(project, {}, { stream }), true)
      assert.equal(await isBare(project, { 'tallytree-record': 'all' }, { stream }), true)
    }
    await record(project, 'all')
    assert.equal(await isBare(project), false)
    const odd = await gateway.complete({}, { headers: { 'tallytree-record': 'none' } })
    assert.equal(odd.status, 422)
    assert.match(odd.text, /Tallytree-Record/)
  })

  it('quotes no upstream where it is metadata alone', async () => {
    gateway.upstream.behave(does.failingWith(400, 'You said: my secret'))
    const project = someProject()
    const answer = await gateway.complete(
      {},
      { headers: { 'openai-project': project, 'tallytree-record': 'metadata' } },
    )
    assert.match(answer.text, /my secret/)
    const [call] = await gateway.ended(project)
    assert.equal(call?.exception, 'The upstream answered with status 400.')
    assert.ok(!JSON.stringify(call).includes('my secret'))
  })

  it('says what failed where that quotes nobody, also where it is metadata alone', async () => {
    gateway.upstream.behave(does.sendingRaw('application/json', '<html>my secret</html>'))
    const project = someProject()
    const headers = { 'openai-project': project, 'tallytree-record': 'metadata' }
    const { error } = (await gateway.complete({}, { headers })).json<{ error: { message: string } }>()
    const [call] = await gateway.ended(project)
    assert.match(error.message, /is not valid/)
    assert.equal(call?.exception, error.message)
  })
})

describe('completions in a trace', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService())))
  after(() => gateway.upstream.close())

  const placed = async (headers: Record<string, string>, project = someProject()) => {
    const answer = await gateway.complete({}, { headers: { 'openai-project': project, ...headers } })
    assert.equal(answer.status, 200, answer.text)
    const { parent_id, trace_id, id } = (await gateway.ended(project)).at(-1)!
    return { parent_id, trace_id: trace_id === id ? 'its own' : trace_id }
  }

  it('stand under the parent that they name, in its trace if that is known or said', async () => {
    const project = someProject()
    await gateway.service.in(project).calls.start({ id: 'parent', trace_id: 'trace' }).json()
    assert.deepEqual(await placed({ 'tallytree-parent-call': 'parent' }, project), {
      parent_id: 'parent',
      trace_id: 'trace',
    })
    assert.deepEqual(await placed({ 'tallytree-parent-call': 'later' }), {
      parent_id: 'later',
      trace_id: 'its own',
    })
    assert.deepEqual(await placed({ 'tallytree-parent-call': 'later', 'tallytree-trace': 'trace' }), {
      parent_id: 'later',
      trace_id: 'trace',
    })
  })

  it('follow traceparent, if it is one and nothing else is said', async () => {
    const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
    const nowhere = { parent_id: null, trace_id: 'its own' }
    const there = { parent_id: span, trace_id: trace }
    const project = someProject()
    await gateway.service.in(project).calls.start({ id: span, trace_id: trace }).json()
    assert.deepEqual(await placed({ traceparent: `00-${trace}-${span}-01` }, project), there)
    assert.deepEqual(await placed({ traceparent: `cc-${trace}-${span}-01-more` }, project), there)
    // A span of automatic tracing, which is no call.
    assert.deepEqual(await placed({ traceparent: `00-${trace}-${span}-01` }), { ...there, parent_id: null })
    for (const odd of [
      `00-${trace}-${span}-01-more`,
      `ff-${trace}-${span}-01`,
      `00-${'0'.repeat(32)}-${span}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      trace,
    ])
      assert.deepEqual(await placed({ traceparent: odd }), nowhere)
    assert.deepEqual(
      await placed({ traceparent: `00-${trace}-${span}-01`, 'tallytree-parent-call': 'other' }),
      { parent_id: 'other', trace_id: 'its own' },
    )
  })

  it('are found by the id that their answer has', async () => {
    for (const stream of [false, true]) {
      const project = someProject()
      const answer = await gateway.complete({ stream }, { headers: { 'openai-project': project } })
      assert.equal(answer.headers.get('tallytree-call-id'), (await gateway.ended(project))[0]?.id)
    }
  })

  it('cannot have a parent whose id no call can have', async () => {
    const answer = await gateway.complete({}, { headers: { 'tallytree-parent-call': 'x'.repeat(257) } })
    assert.equal(answer.status, 422)
    assert.match(answer.text, /Tallytree-Parent-Call/)
  })
})
