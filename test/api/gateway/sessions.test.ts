import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { SendOptions } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { startUpstreamOfAllApis } from '../../support/upstreams/all-apis.js'
import type { ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { accepted } from '../calls/given.js'
import { sharedService } from '../shared-service.js'
import { givenTeam } from '../webhooks/given.js'
import { anUpstream, UPSTREAMS } from './given.js'

const APIS = ['chat', 'responses', 'messages']
const ask = (content: string) => [{ role: 'user', content }]

describe('requests of a session', () => {
  let service: TestService
  let key: string
  let project: string
  let upstreams: readonly ScriptedUpstream[]
  let model: string
  beforeEach(async () => {
    service = await sharedService()
    const { team, keys } = await givenTeam(service)
    key = keys.team_administrator
    project = `${team}/inference`
    upstreams = await Promise.all([1, 2, 3].map(startUpstreamOfAllApis))
    for (const [n, { baseUrl }] of upstreams.entries()) {
      const upstream = anUpstream({ name: `upstream-${n}`, team, base_url: baseUrl, apis: APIS })
      accepted(await service.post(UPSTREAMS, upstream, { key }))
      model = (upstream['models'] as { id: string }[])[0]!.id
    }
  })
  afterEach(() => Promise.all(upstreams.map((upstream) => upstream.close())))

  const send = async (path: string, body: JsonObject, headers: SendOptions['headers'] = {}) =>
    accepted(await service.post(path, { model, ...body }, { key, headers }))
  const threads = async (): Promise<readonly JsonObject[]> => {
    const query = { project_id: project, limit: 10, include_usage: true, include_details: true }
    const { text } = await service.post('/threads/stream_query', query, { key })
    return text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as JsonObject)
  }

  it('are the turns of a thread, with their usage', async () => {
    const codex = { 'session-id': 's-1', 'thread-id': 't-1' }
    await send('/v1/responses', { input: ask('say hi'), prompt_cache_key: 'k' }, codex)
    await send('/v1/responses', { input: [...ask('say hi'), ...ask('again')], prompt_cache_key: 'k' }, codex)
    const claude = { 'x-claude-code-session-id': 'c-1' }
    await send('/v1/messages', { max_tokens: 10, messages: ask('say ho') }, claude)
    const found = await threads()
    assert.deepEqual(
      found.map(({ thread_id, turn_count, total_tokens, first_message }) => [
        thread_id,
        turn_count,
        total_tokens,
        first_message,
      ]),
      [
        ['c-1', 1, 16, 'say ho'],
        ['t-1', 2, 32, 'say hi'],
      ],
    )
  })

  it('are in no thread when they have only a prompt_cache_key', async () => {
    await send('/v1/responses', { input: 'say hi', prompt_cache_key: 'k' })
    assert.deepEqual(await threads(), [])
  })

  it('go to the same of several upstreams, as do long prompts that begin alike', async () => {
    const asked = () => upstreams.map(({ arrivals }) => arrivals.length)
    const system = 'word '.repeat(2000)
    for (const { body, headers } of [
      { body: { messages: ask('say hi') }, headers: { 'session-id': 's-1' } },
      { body: { messages: ask('say hi'), prompt_cache_key: 'k' }, headers: {} },
      { body: { messages: [{ role: 'system', content: system }, ...ask('say hi')] }, headers: {} },
    ]) {
      const before = asked()
      for (let n = 0; n < 8; n += 1) await send('/v1/chat/completions', body, headers)
      const more = asked().map((count, n) => count - before[n]!)
      assert.deepEqual([...more].sort(), [0, 0, 8])
    }
  })
})
