import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { upstreamContent } from '../../../src/domain/gateway/upstreams/content.js'
import { decode } from '../../../src/kernel/codec/codec.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { failingWith, saying } from '../../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { until } from '../../support/until.js'
import { accepted } from '../calls/given.js'
import { givenTeam } from '../webhooks/given.js'
import { anUpstream, callsOf, complete, UPSTREAMS } from './given.js'

describe('a request to an upstream', () => {
  let service: TestService
  let upstream: ScriptedUpstream
  let team: string
  let key: string
  let project: string
  let append: Awaited<ReturnType<typeof givenTeam>>['append']
  before(async () => (service = await sharedService()))
  beforeEach(async () => {
    const given = await givenTeam(service)
    ;({ team, append } = given)
    key = given.keys.team_administrator
    project = `${team}/inference`
    upstream = await startUpstream(saying(['well']))
  })
  afterEach(() => upstream.close())

  const create = (more: object) =>
    service.post(UPSTREAMS, anUpstream({ team, base_url: upstream.baseUrl, ...more }), { key })
  const ask = (more = {}) => complete(service, key, project, more)
  const last = () => upstream.arrivals.at(-1)!

  it('has the headers and the query of the upstream, with secrets, which no error shows', async () => {
    await service.send('PUT', `/api/teams/${team}/secrets/AZURE_KEY`, { value: 'geheim-123' }, { key })
    const headers = { 'api-key': '$AZURE_KEY', 'X-Title': 'our app' }
    accepted(await create({ headers, query: { 'api-version': '2026-01-01' } }))
    accepted(await ask())
    assert.equal(last().url, '/v1/chat/completions?api-version=2026-01-01')
    assert.deepEqual([last().headers['api-key'], last().headers['x-title']], ['geheim-123', 'our app'])
    upstream.behave(failingWith(400, 'the key geheim-123 is odd'))
    const refused = await ask()
    assert.equal(refused.status, 400)
    assert.match(refused.text, /the key \[secret\] is odd/)
    const used = await service.send('DELETE', `/api/teams/${team}/secrets/AZURE_KEY`, undefined, { key })
    assert.equal(used.status, 409)
    const path = `/api/teams/${team}/secrets/AZURE_KEY?force=true`
    accepted(await service.send('DELETE', path, undefined, { key }))
    assert.equal((await ask()).status, 502)
  })

  it('cannot have a header that is set for each request, nor a secret that the team has not', async () => {
    for (const [more, place] of [
      [{ headers: { 'Content-Length': '1' } }, 'headers.Content-Length'],
      [{ headers: { 'x-key': '$NONE' } }, 'headers.x-key'],
      [{ query: { key: '${NONE}' } }, 'query.key'],
      [{ headers: { 'x-key': 'two\nlines' } }, 'headers.x-key'],
    ] as const) {
      const { status, text } = await create(more)
      assert.equal(status, 422, text)
      const { detail } = JSON.parse(text) as { detail: { loc: (string | number)[] }[] }
      assert.equal(detail[0]!.loc.slice(1).join('.'), place)
    }
  })

  it('cannot have a credential that is written out, but keeps one of an earlier release, which is not shown', async () => {
    for (const [more, place] of [
      [{ headers: { authorization: 'Bearer hush' } }, 'headers.authorization'],
      [{ headers: { 'Api-Key': 'hush' } }, 'headers.Api-Key'],
      [{ query: { key: 'hush' } }, 'query.key'],
    ] as const)
      for (const path of [UPSTREAMS, `${UPSTREAMS}/test`]) {
        const body = anUpstream({ team, base_url: upstream.baseUrl, ...more })
        const { status, text } = await service.post(path, body, { key })
        assert.deepEqual([status, text.includes('hush')], [422, false])
        assert.match(text, /use secret, or store it as a secret of the team/)
        const { detail } = JSON.parse(text) as { detail: { loc: (string | number)[] }[] }
        assert.equal(detail[0]!.loc.slice(1).join('.'), place)
      }
    const written = { headers: { authorization: 'Bearer hush' }, query: { key: 'hush' } }
    const content = decode(upstreamContent)({ ...anUpstream({ base_url: upstream.baseUrl }), ...written })
    assert.ok(E.isRight(content))
    const old = { id: `old-${team}`, team, ...content.right } as unknown as JsonObject
    await append('upstreams', 'UpstreamCreated', old)
    const path = `${UPSTREAMS}/old-${team}`
    await until(async () => (await service.send('GET', path, undefined, { key })).status === 200)
    const changed = accepted(await service.send('PATCH', path, { weight: 2 }, { key }))
    assert.deepEqual(
      [changed['headers'], changed['query']],
      [{ authorization: '[secret]' }, { key: '[secret]' }],
    )
    accepted(await ask())
    assert.equal(last().headers.authorization, 'Bearer hush')
    const events = await service.send('GET', '/api/events?stream=upstreams', undefined, { key })
    assert.deepEqual([events.text.includes(`old-${team}`), events.text.includes('hush')], [true, false])
  })

  it('is repeated without stream_options where the upstream refuses them, and sent without from then on', async () => {
    accepted(await create({}))
    const answers = saying(['a', 'b'], null)
    upstream.behave((body, response, request) =>
      'stream_options' in body
        ? failingWith(400, "Unrecognized request argument supplied: 'stream_options'")(
            body,
            response,
            request,
          )
        : answers(body, response, request),
    )
    for (const arrivals of [2, 3]) {
      const answer = await ask({ stream: true, stream_options: { include_usage: true } })
      assert.equal(answer.status, 200, answer.text)
      assert.match(answer.text, /"content":"b"/)
      assert.equal(upstream.arrivals.length, arrivals)
    }
    const [call] = await callsOf(service, project)
    assert.match(JSON.stringify(call!.summary), /"metering":"estimated"/)
    accepted(
      await create({ name: 'other', models: [{ id: 'other', upstream_id: 'o' }], stream_options: false }),
    )
    assert.equal((await ask({ model: 'other', stream: true })).status, 200)
    assert.equal(upstream.arrivals.length, 4)
  })

  it('is not repeated where options of the client may be at fault, which would change the next requests', async () => {
    accepted(await create({}))
    upstream.behave(failingWith(400, 'stream_options.colour is unknown'))
    assert.equal((await ask({ stream: true, stream_options: { colour: 'red' } })).status, 400)
    assert.equal(upstream.arrivals.length, 1)
    upstream.behave(saying(['well']))
    assert.equal((await ask({ stream: true })).status, 200)
    assert.deepEqual(last().body['stream_options'], { include_usage: true })
  })

  it('can be tried before the upstream is saved', async () => {
    const test = async (more: object) =>
      accepted(
        await service.post(`${UPSTREAMS}/test`, anUpstream({ team, base_url: upstream.baseUrl, ...more }), {
          key,
        }),
      )
    upstream.behave((_, response, request) =>
      request.method === 'POST' && !/\/(messages|chat\/completions)$/.test(request.url ?? '')
        ? response.writeHead(404).end()
        : request.headers.authorization === 'Bearer geheim-123'
          ? response
              .writeHead(200, { 'content-type': 'application/json' })
              .end('{"data":[{"id":"chat-1"},{"id":"chat-2"}]}')
          : response.writeHead(401).end('{"error":{"message":"wrong key"}}'),
    )
    const { duration_ms: _, ...refused } = await test({})
    assert.deepEqual(refused, {
      success: false,
      status: 401,
      models: [],
      unknown_models: [],
      apis: [],
      error: 'The upstream answered with status 401: wrong key Check the secret.',
    })
    await service.send('PUT', `/api/teams/${team}/secrets/KEY`, { value: 'geheim-123' }, { key })
    const found = await test({ secret: 'KEY', models: [{ id: 'chat', upstream_id: 'chat-9' }] })
    assert.deepEqual(
      [found['success'], found['models'], found['unknown_models'], found['apis']],
      [true, ['chat-1', 'chat-2'], ['chat-9'], ['chat', 'messages']],
    )
    upstream.behave((_, response) => void response.end('<html>'))
    assert.match(JSON.stringify(await test({})), /not JSON/)
    const gone = await startUpstream(saying(['well']))
    await gone.close()
    assert.match(JSON.stringify(await test({ base_url: gone.baseUrl })), /could not be reached/)
  })
})
