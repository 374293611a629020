import assert from 'node:assert/strict'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import type { Answered } from '../../../support/client.js'
import { startTestService, type TestService } from '../../../support/service.js'
import { until } from '../../../support/until.js'
import { saying } from '../../../support/upstreams/behaviours.js'
import { MESSAGES, startGateway, type Gateway } from '../../../support/upstreams/gateway.js'
import { JSON_TYPE, messageOf, sendingPieces } from '../../../support/upstreams/samples.js'
import { accepted, textIn } from '../../calls/given.js'
import { recordCalls, startedAt } from '../../prices/given.js'

describe('answers that are given again', () => {
  let service: TestService
  let gateway: Gateway
  let projects = 0
  before(async () => {
    service = await startTestService()
    gateway = await startGateway(service, {
      upstream: { apis: ['chat', 'responses', 'messages', 'embeddings'] },
    })
  })
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })

  const asked = () => gateway.upstream.arrivals.length
  const someProject = () => `acme/cached-${(projects += 1)}`
  const send = (
    project: string,
    body: JsonObject = {},
    { cache, path = 'chat/completions' }: { cache?: string; path?: string } = {},
  ): Promise<Answered> =>
    service.post(
      `/v1/${path}`,
      { model: gateway.model, messages: MESSAGES, ...body },
      {
        headers: { 'openai-project': project, ...(cache === undefined ? {} : { 'tallytree-cache': cache }) },
      },
    )
  const isHit = ({ headers }: Answered) => headers.get('tallytree-cache') === 'hit'

  it('are those of equal requests of the project, whole or streamed, at no cost', async () => {
    const project = someProject()
    accepted(await service.send('PUT', `/api/projects/${project}`, { cache_seconds: 60 }))
    const before = asked()
    const first = await send(project)
    const again = await send(project, { user: 'someone', metadata: { a: 'b' } })
    const streamed = await send(project, { stream: true, stream_options: { include_usage: true } })
    assert.equal(asked(), before + 1)
    assert.deepEqual([isHit(first), isHit(again), isHit(streamed)], [false, true, true])
    assert.equal(again.text, first.text)
    assert.match(streamed.text, /"delta".*Hello.*\n\ndata: \[DONE\]\n\n$/s)

    const calls = await gateway.ended(project, 3)
    const [origin, hit] = calls
    assert.deepEqual(hit!.output, origin!.output)
    const saved = { saved_tokens: 14, saved_cost: null }
    assert.deepEqual(hit!.summary.usage, { [gateway.model]: { cache_hits: 1, ...saved } })
    assert.deepEqual(
      { ...(hit!.summary.tallytree!['cache'] as JsonObject), age_ms: 0 },
      { call_id: origin!.id, age_ms: 0, ...saved },
    )
  })

  it('are summed up with what they saved, to the last digit, also in the calls above them', async () => {
    const price = { prompt_token_cost: '0.000000000003', completion_token_cost: '0.000000000005' }
    const priced = await startGateway(service, {
      upstream: { models: [{ id: `acme/priced-${(projects += 1)}`, upstream_id: 'chat-1', price }] },
      id: `acme/priced-${projects}`,
    })
    const project = someProject()
    await recordCalls(service, project, [['root', null, {}, startedAt('2026-01-01T10:00:00Z')]])
    const headers = {
      'openai-project': project,
      'tallytree-cache': '60',
      'tallytree-parent-call': 'root',
      'tallytree-trace': 't',
    }
    for (let n = 0; n < 3; n += 1) accepted(await priced.complete({}, { headers }))
    const origin = (await priced.ended(project, 4)).find(({ output }) => output !== null)
    await priced.upstream.close()

    const own = { requests: 1, prompt_tokens: 11, total_tokens: 14, total_cost: 0.000000000048 }
    const saved = { cache_hits: 2, saved_tokens: 28, saved_cost: 0.000000000096 }
    const asked = { project_id: project, group_by: ['model'], include_costs: true }
    for (const [calls, more] of [
      [3, {}],
      [1, { usage: 'inclusive', filter: { trace_roots_only: true } }],
    ] as const) {
      const answer = await service.post('/usage/query', { ...asked, ...more })
      const { rows } = accepted(answer) as unknown as { rows: { group: JsonObject; usage: JsonObject }[] }
      const { usage, group } = rows[0]!
      const expected = { calls, ...own, ...saved }
      assert.equal(rows.length, 1)
      assert.equal(group['model'], priced.model)
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, usage[name]])), expected)
    }
    const { call_usage } = accepted(await service.in(project).usage.ofTraces({ include_costs: true })) as {
      call_usage: Record<string, Record<string, JsonObject>>
    }
    const { cache_hits, saved_tokens, saved_cost } = call_usage['root']![priced.model]!
    assert.deepEqual({ cache_hits, saved_tokens, saved_cost }, saved)
    assert.equal(call_usage[origin!.id]![priced.model]!['saved_cost'], undefined)
  })

  it('come from streams too', async () => {
    const project = someProject()
    await send(project, { stream: true }, { cache: '60' })
    const whole = await send(project, {}, { cache: '60' })
    assert.ok(isHit(whole))
    assert.equal(
      whole.json<{ choices: { message: JsonObject }[] }>().choices[0]!.message['content'],
      'Hello, world',
    )
  })

  it('are of no other project, model or request, and of none that asks for a new one', async () => {
    const [one, other] = [someProject(), someProject()]
    await send(one, {}, { cache: '60' })
    for (const answer of [
      await send(other, {}, { cache: '60' }),
      await send(one, { temperature: 0.5 }, { cache: '60' }),
      await send(one, { messages: [...MESSAGES, ...MESSAGES] }, { cache: '60' }),
      await send(one, {}, { cache: '0' }),
      await send(one),
    ])
      assert.ok(!isHit(answer), answer.text)
  })

  it('are none of failures, broken streams, hosted tools, or projects that record no content', async () => {
    const project = someProject()
    gateway.upstream.behave((_, response) => response.writeHead(500).end())
    await send(project, {}, { cache: '60' })
    gateway.upstream.behave((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n')
      setTimeout(() => response.destroy(), 20)
    })
    await send(project, { stream: true }, { cache: '60' })
    gateway.upstream.behave(saying(['Hello', ', ', 'world']))
    assert.ok(!isHit(await send(project, {}, { cache: '60' })))
    const search = { tools: [{ type: 'web_search' }] }
    await send(project, search, { cache: '60' })
    assert.ok(!isHit(await send(project, search, { cache: '60' })))

    const quiet = someProject()
    accepted(await service.send('PUT', `/api/projects/${quiet}`, { record: 'metadata', cache_seconds: 60 }))
    await send(quiet)
    assert.ok(!isHit(await send(quiet)))
  })

  it('are none of requests with other betas, or with servers of tools', async () => {
    const project = someProject()
    gateway.upstream.behave(sendingPieces(JSON_TYPE, JSON.stringify(messageOf('Hello').whole)))
    const ask = async (body: JsonObject, more: Record<string, string> = {}) => {
      const request = { model: gateway.model, max_tokens: 50, messages: MESSAGES, ...body }
      const headers = { 'openai-project': project, 'tallytree-cache': '60', ...more }
      return isHit(await service.post('/v1/messages', request, { headers }))
    }
    const versions = [{}, { 'anthropic-beta': 'a' }, { 'anthropic-version': '2026-10-21' }]
    for (const headers of versions) {
      assert.equal(await ask({}, headers), false)
      assert.equal(await ask({}, headers), true)
    }
    const servers = { mcp_servers: [{ type: 'url', url: 'https://tools.example', name: 'tools' }] }
    assert.deepEqual([await ask(servers), await ask(servers)], [false, false])
    gateway.upstream.behave(saying(['Hello', ', ', 'world']))
  })

  it('are dropped when content of the project is erased, also of calls in flight', async () => {
    const [project, other] = [someProject(), someProject()]
    const ask = (body: JsonObject, where = project) => send(where, body, { cache: '60' })
    await ask({})
    await ask({}, other)
    assert.ok(isHit(await ask({})))
    let answer: () => void = () => undefined
    const arrived = new Promise<void>((resolve) =>
      gateway.upstream.behave((...arrival) => {
        answer = () => void saying(['Hello', ', ', 'world'])(...arrival)
        resolve()
      }),
    )
    const inFlight = ask({ seed: 1 })
    await arrived
    const { erasure } = accepted(
      await service.post(`/api/projects/${project}/erasures`, {
        selection: { filter: {} },
        reason: 'a test',
      }),
    )
    const id = textIn(erasure as JsonObject, 'id')
    await until(async () => {
      const { state } = accepted(await service.send('GET', `/api/projects/${project}/erasures/${id}`))
      return state === 'finished'
    })
    answer()
    await inFlight
    gateway.upstream.behave(saying(['Hello', ', ', 'world']))
    assert.deepEqual([isHit(await ask({})), isHit(await ask({ seed: 1 }))], [false, false])
    assert.ok(isHit(await ask({}, other)))
  })

  it('are refused by name where their age is no number of seconds', async () => {
    for (const cache of ['soon', '-1', '1.5', '99999999']) {
      const refused = await send(someProject(), {}, { cache })
      assert.equal(refused.status, 422)
      assert.match(refused.text, /Tallytree-Cache/)
    }
  })

  it('are whole embeddings, of which the record has the sizes', async () => {
    const project = someProject()
    gateway.upstream.behave((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,0.25]}],"model":"e","usage":{"prompt_tokens":2,"total_tokens":2}}',
      )
    })
    const asking = { cache: '60', path: 'embeddings' }
    const first = await send(project, { input: 'hello' }, asking)
    const again = await send(project, { input: 'hello' }, asking)
    gateway.upstream.behave(saying(['Hello', ', ', 'world']))
    assert.ok(isHit(again))
    assert.equal(again.text, first.text)
    const [call] = await gateway.ended(project, 2)
    assert.deepEqual((call!.output!['data'] as JsonObject[])[0], {
      object: 'embedding',
      index: 0,
      dimensions: 2,
    })
  })
})
