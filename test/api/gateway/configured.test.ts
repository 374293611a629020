import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { startTestService, type TestService } from '../../support/service.js'
import { saying } from '../../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { givenTeam } from '../webhooks/given.js'
import { accepted, reasonOf } from '../calls/given.js'
import { anUpstream, callsOf, complete, UPSTREAMS } from './given.js'

describe('upstreams of the operator', () => {
  let service: TestService
  let upstream: ScriptedUpstream
  let directory: string
  let given: Awaited<ReturnType<typeof givenTeam>>
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-configured-'))
    upstream = await startUpstream(saying(['hello']))
    const file = join(directory, 'upstreams.json')
    const price = { prompt_token_cost: '0.5', completion_token_cost: '3' }
    const models = [{ id: 'chat', upstream_id: 'chat-1', aliases: ['talk'], price }]
    const one = { name: 'local', base_url: upstream.baseUrl, models, api_key_env: 'LOCAL_KEY' }
    await writeFile(file, JSON.stringify({ upstreams: [one] }))
    service = await startTestService({
      TALLYTREE_UPSTREAMS_FILE: file,
      TALLYTREE_UPSTREAM_ALLOW_CIDRS: '',
      LOCAL_KEY: 'geheim-of-the-operator',
    })
    given = await givenTeam(service)
  })
  after(async () => {
    await service.stop()
    await upstream.close()
    await rm(directory, { recursive: true, force: true })
  })

  it('answer every team, wherever they are, with their own credential and at their price', async () => {
    const project = `${given.team}/p`
    accepted(await complete(service, given.keys.member, project, { model: 'talk' }))
    assert.equal(upstream.arrivals[0]?.headers.authorization, 'Bearer geheim-of-the-operator')
    const [call] = (await callsOf(service, project, { include_costs: true })) as unknown as {
      summary: { weave: { costs: Record<string, JsonObject> } }
    }[]
    assert.equal(call!.summary.weave.costs['chat']!['prompt_tokens_total_cost'], 11 * 0.5)
    assert.ok(!JSON.stringify(service.logged).includes('geheim'))
  })

  it('are shown to the administrator, changed by nobody, and take their names before all others', async () => {
    const path = `${UPSTREAMS}/${encodeURIComponent('file:local')}`
    const shown = accepted(await service.send('GET', path))
    assert.deepEqual([shown['configured'], shown['secret'], shown['team']], [true, null, null])
    assert.ok(!JSON.stringify(shown).includes('geheim'))
    for (const [method, body] of [['PATCH', { weight: 2 }], ['DELETE']] as const)
      assert.match(reasonOf(await service.send(method, path, body), 409), /operator's file/)
    assert.equal((await given.send('GET', path)).status, 404)
    const taken = await given.send('POST', UPSTREAMS, anUpstream({ team: given.team }))
    assert.match(reasonOf(taken, 409), /already serves a model named \S*chat/)
  })

  it('that are made by API are looked at like any other, and reach no private address that is not allowed', async () => {
    const models = [{ id: 'guarded', upstream_id: 'g' }]
    accepted(await service.post(UPSTREAMS, anUpstream({ name: 'made', base_url: upstream.baseUrl, models })))
    const before = upstream.arrivals.length
    const answer = await complete(service, given.keys.member, `${given.team}/p`, { model: 'guarded' })
    assert.equal(answer.status, 502)
    assert.match(answer.text, /address of the upstream is not allowed/)
    assert.equal(upstream.arrivals.length, before)
  })
})
