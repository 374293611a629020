import assert from 'node:assert/strict'
import { systemIds } from '../../../src/adapters/system/system.js'
import { execute } from '../../../src/kernel/execute.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { secretDecider, secretStream } from '../../../src/domain/secrets/secret.js'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { until } from '../../support/until.js'
import { saying } from '../../support/upstreams/behaviours.js'
import { startUpstream, type Behaviour, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { givenTeam } from '../webhooks/given.js'
import { accepted, textIn } from '../calls/given.js'
import { anUpstream, callsOf, complete, triesOf, UPSTREAMS } from './given.js'

const failing =
  (status: number, message = 'it broke', headers: Record<string, string> = {}): Behaviour =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message, type: 'some_error', code: 'some_code' } }))
  }

describe('asking one of several upstreams', () => {
  let service: TestService
  let team: string
  let key: string
  let project: string
  let made: string[]
  let first: ScriptedUpstream
  let second: ScriptedUpstream
  before(async () => (service = await sharedService()))
  beforeEach(async () => {
    const given = await givenTeam(service)
    ;({ team } = given)
    key = given.keys.team_administrator
    project = `${team}/inference`
    first = await startUpstream(saying(['from the first']))
    second = await startUpstream(saying(['from the second']))
    made = []
  })
  afterEach(() => Promise.all([first.close(), second.close()]))

  const add = async (name: string, { baseUrl }: ScriptedUpstream, more: object = {}): Promise<void> => {
    const body = anUpstream({ name, team, base_url: baseUrl, ...more })
    made.push(textIn(accepted(await service.post(UPSTREAMS, body, { key })), 'id'))
  }
  /** The first is asked before the second, which has no weight. */
  const addBoth = async (more: object = {}, moreOfSecond: object = {}) => {
    await add('first', first, more)
    await add('second', second, { ...moreOfSecond, weight: 0 })
  }
  const ask = (more: JsonObject = {}) => complete(service, key, project, more)
  const healthOf = async (place: number) => {
    const path = `${UPSTREAMS}/${made[place]!}`
    const shown = accepted(await service.send('GET', path, undefined, { key }))
    const { models } = shown['health'] as { models: JsonObject[] }
    return models[0]!
  }
  const lastTries = async () => triesOf((await callsOf(service, project)).at(-1)!)

  it('goes to the next where one fails before it answers, and keeps each try', async () => {
    await addBoth()
    const failures: readonly (readonly [Behaviour, string])[] = [
      [failing(500), 'status 500'],
      [failing(529), 'status 529'],
      [failing(404), 'status 404'],
      [(_, response) => response.destroy(), 'reset UND_ERR_SOCKET'],
    ]
    for (const [behaviour, outcome] of failures) {
      // A fault of its own each time, not one in a row.
      first.behave(saying(['well']))
      accepted(await ask())
      first.behave(behaviour)
      const answer = await ask({ stream: outcome === 'status 404' })
      assert.equal(answer.status, 200, answer.text)
      assert.match(answer.text, /from the second/)
      const tries = await lastTries()
      assert.deepEqual(tries, [`first: ${outcome}`, 'second: answered'])
    }
  })

  it('goes to the next where one says nothing for longer than it may', async () => {
    await addBoth({ timeouts: { first_byte_ms: 50 } })
    first.behave(() => undefined)
    assert.match(JSON.stringify(accepted(await ask())), /from the second/)
    assert.deepEqual(await lastTries(), ['first: timeout first byte', 'second: answered'])
  })

  it('goes to the next also where one says that it fails, and never why', async () => {
    await addBoth()
    first.behave((_, response) => void response.writeHead(500).write('{"error":'))
    const answer = accepted(await ask())
    assert.match(JSON.stringify(answer), /from the second/)
    assert.deepEqual(await lastTries(), ['first: status 500', 'second: answered'])
  })

  it('goes nowhere else with what the client has to mend, nor once the answer has begun', async () => {
    await addBoth()
    for (const status of [400, 422]) {
      first.behave(failing(status, 'your messages are odd'))
      const answer = await ask()
      assert.equal(answer.status, status)
      assert.match(answer.text, /your messages are odd/)
      assert.deepEqual(await lastTries(), [`first: status ${status}`])
    }
    first.behave((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n', () =>
        response.destroy(),
      )
    })
    const answer = await ask({ stream: true })
    assert.match(answer.text, /half[^]*upstream_error/)
    assert.deepEqual(await lastTries(), ['first: answered'])
    assert.equal(second.arrivals.length, 0)
  })

  it('says to try again unless every upstream refused for good', async () => {
    await addBoth()
    const shouldRetry = async () => {
      const answer = await ask()
      assert.equal(answer.status, 502)
      return answer.headers.get('x-should-retry')
    }
    second.behave(failing(401))
    first.behave(failing(404))
    assert.equal(await shouldRetry(), 'false')
    first.behave(failing(503))
    assert.equal(await shouldRetry(), 'true')
  })

  it('sends a request once, also where a kept connection breaks', async () => {
    await addBoth()
    accepted(await ask())
    const before = first.arrivals.length
    first.behave((_, response) => response.destroy())
    for (const stream of [false, true]) {
      assert.match((await ask({ stream })).text, /from the second/)
      assert.deepEqual(await lastTries(), ['first: reset UND_ERR_SOCKET', 'second: answered'])
    }
    assert.equal(first.arrivals.length, before + 2)
  })

  it('opens another connection where a kept one was closed while it was idle', async () => {
    await add('first', first)
    for (let round = 0; round < 3; round += 1) {
      accepted(await ask())
      first.closeIdle()
    }
    assert.deepEqual(await lastTries(), ['first: answered'])
  })

  it('leaves one out after five faults in a row, and never the last', async () => {
    await addBoth()
    first.behave(failing(503))
    for (let round = 0; round < 5; round += 1) accepted(await ask())
    assert.equal(first.arrivals.length, 5)
    const { state, faults_in_a_row, out_until } = await healthOf(0)
    assert.deepEqual([state, faults_in_a_row], ['out', 5])
    assert.ok(Date.parse(out_until as string) > Date.now())
    accepted(await ask())
    assert.equal(first.arrivals.length, 5)
    second.behave(failing(500))
    for (let round = 0; round < 7; round += 1) assert.equal((await ask()).status, 502)
    assert.equal((await healthOf(1))['state'], 'in')
    assert.equal(second.arrivals.length, 13)
    const { text } = await service.send('GET', '/metrics')
    assert.match(text, /^\w*gateway_open_circuits [1-9]$/m)
    assert.match(text, /^\w*gateway_upstream_attempts_total\{outcome="fault"\} \d+$/m)
  })

  it('counts no refusal as a fault', async () => {
    await addBoth()
    first.behave(failing(404))
    for (let round = 0; round < 7; round += 1) accepted(await ask())
    assert.deepEqual((await healthOf(0))['faults_in_a_row'], 0)
    assert.equal(first.arrivals.length, 7)
  })

  it('goes to the next where one says 200 and has no completion, and leaves that one out after five', async () => {
    const page: Behaviour = (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')
    const json =
      (text: string): Behaviour =>
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    const events =
      (text: string): Behaviour =>
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
    const nothings = [
      page,
      json(''),
      json('{}'),
      json('{"choices":[]}'),
      json('{"error":{"message":"overloaded"}}'),
      events('data: [DONE]\n\n'),
      events('data: {"error":{"message":"overloaded"}}\n\n'),
      events('event: error\ndata: overloaded\n\n'),
      events(': nothing\n\n'),
      // Azure begins with what its filter found.
      events('data: {"id":"","choices":[]}\n\ndata: {"error":{"message":"overloaded"}}\n\n'),
    ]
    await addBoth()
    for (const stream of [true, false])
      for (const nothing of nothings) {
        first.behave(saying(['well']))
        accepted(await ask())
        first.behave(nothing)
        const answer = await ask({ stream })
        assert.equal(answer.status, 200, answer.text)
        assert.match(answer.text, /from the second/)
        assert.deepEqual((await lastTries()).at(-1), 'second: answered')
      }
    first.behave(page)
    for (let round = 0; round < 6; round += 1) accepted(await ask())
    assert.equal((await healthOf(0))['state'], 'out')
  })

  it('leaves one alone that is overloaded five times in a row', async () => {
    await addBoth()
    first.behave(failing(529, 'Overloaded', { 'retry-after': '60' }))
    for (let round = 0; round < 6; round += 1) accepted(await ask())
    assert.equal(first.arrivals.length, 5)
    assert.equal((await healthOf(0))['state'], 'out')
  })

  it('leaves one alone that refuses for its rate or its key, for as long as it says', async () => {
    for (const status of [429, 401]) {
      const name = `limited-${status}`
      const models = [{ id: name, upstream_id: 'chat-1' }]
      await add(`first-${status}`, first, { models })
      await add(`second-${status}`, second, { models, weight: 0 })
      first.behave(failing(status, 'slow down', { 'retry-after': '60' }))
      const before = first.arrivals.length
      for (let round = 0; round < 5; round += 1) accepted(await ask({ model: name }))
      assert.equal(first.arrivals.length, before + 1)
      const { state, out_until } = await healthOf(made.length - 2)
      assert.equal(state, 'out')
      if (status === 429) assert.ok(Date.parse(out_until as string) > Date.now() + 50_000)
    }
  })

  it('tells the client when to come back, whatever the status was', async () => {
    await add('first', first)
    for (const status of [429, 500, 503, 529]) {
      first.behave(failing(status, 'later', { 'retry-after': '60' }))
      assert.equal((await ask()).headers.get('retry-after'), '60', String(status))
    }
  })

  const held = (): {
    readonly behaviour: Behaviour
    readonly release: () => void
    readonly count: () => number
  } => {
    const waiting: (() => void)[] = []
    return {
      behaviour: (body, response, request) =>
        void waiting.push(() => void saying(['held'])(body, response, request)),
      release: () => waiting.shift()?.(),
      count: () => waiting.length,
    }
  }

  it('has no more under way at one than it takes: others go to the next, or wait in turn', async () => {
    const models = [{ id: 'chat', upstream_id: 'm', concurrency: 2 }]
    await addBoth({ models }, { models: [{ ...models[0]!, concurrency: 1 }] })
    const [one, two] = [held(), held()]
    first.behave(one.behaviour)
    second.behave(two.behaviour)
    const asked = Array.from({ length: 5 }, () => ask())
    await until(() => one.count() === 2 && two.count() === 1)
    assert.equal((await healthOf(0))['in_flight'], 2)
    one.release()
    await until(() => one.count() === 2)
    two.release()
    await until(() => two.count() === 1)
    for (const who of [one, one, two]) who.release()
    for (const answer of await Promise.all(asked)) accepted(answer)
    assert.deepEqual([first.arrivals.length, second.arrivals.length], [3, 2])
    assert.deepEqual([(await healthOf(0))['in_flight'], (await healthOf(1))['in_flight']], [0, 0])
  })

  it('lets in at once those who wait where an upstream takes more now, and none where it takes less', async () => {
    const models = (concurrency: number) => [{ id: 'chat', upstream_id: 'm', concurrency }]
    await add('first', first, { models: models(2) })
    const hold = held()
    first.behave(hold.behaviour)
    const change = async (body: object) =>
      accepted(await service.send('PATCH', `${UPSTREAMS}/${made[0]!}`, body, { key }))
    const asked = Array.from({ length: 4 }, () => ask())
    await until(() => hold.count() === 2)
    await change({ models: models(3) })
    await until(() => hold.count() === 3)
    await change({ models: models(1) })
    for (let released = 0; released < 3; released += 1) hold.release()
    await until(() => hold.count() === 1)
    hold.release()
    for (const answer of await Promise.all(asked)) accepted(answer)
    const lastOne = ask()
    await until(() => hold.count() === 1)
    const waits = ask()
    await until(async () => (await callsOf(service, project)).length >= 6)
    await change({ enabled: false })
    assert.equal((await waits).status, 503)
    hold.release()
    accepted(await lastOne)
  })

  it('gives room back when a client leaves, and says after a while that there is none', async () => {
    await add('first', first, { models: [{ id: 'chat', upstream_id: 'm', concurrency: 1 }] })
    const hold = held()
    first.behave(hold.behaviour)
    const gone = new AbortController()
    const left = fetch(`${service.address}/v1/chat/completions`, {
      method: 'POST',
      signal: gone.signal,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'openai-project': project,
      },
      body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'x' }], stream: true }),
    }).catch(() => undefined)
    await until(() => hold.count() === 1)
    const waited = await ask()
    assert.equal(waited.status, 503)
    assert.match(waited.headers.get('retry-after') ?? '', /^\d+$/)
    assert.deepEqual(await lastTries(), [])
    gone.abort()
    await left
    first.behave(saying(['room']))
    accepted(await ask())
  })

  it('sends the newest secret of its team, and redacts it in what the upstream answers', async () => {
    const secrets = `/api/teams/${team}/secrets`
    for (const value of ['old-Geheim-1234', 'new-Geheim-5678'])
      accepted(await service.send('PUT', `${secrets}/UPSTREAM_KEY`, { value }, { key }))
    await add('first', first, { secret: 'UPSTREAM_KEY' })
    first.behave((_, response, request) => {
      const sent = String(request.headers.authorization)
      failing(400, `${sent} ${Buffer.from('new-Geheim-5678').toString('base64')}`)({}, response, request)
    })
    const answer = await ask()
    assert.equal(answer.status, 400)
    assert.equal(first.arrivals[0]?.headers.authorization, 'Bearer new-Geheim-5678')
    assert.equal(answer.json<{ error: { message: string } }>().error.message, 'Bearer [secret] [secret]')
    const { text } = await service.in(project).calls.query()
    assert.ok(!text.includes('Geheim'), text)
    accepted(await service.send('DELETE', `${secrets}/UPSTREAM_KEY?force=true`, undefined, { key }))
    let last = await ask()
    // For a second the value may still be sent.
    while (last.status === 400) last = await ask()
    assert.equal(last.status, 502)
    assert.match(last.text, /secret UPSTREAM_KEY has no readable value/)
    assert.deepEqual(await lastTries(), ['first: no secret'])
  })

  it('takes a secret that no header can carry for a mistake of its managers, not of the upstream', async () => {
    const path = `/api/teams/${team}/secrets/UPSTREAM_KEY`
    const bad = 'Geheim\n1234'
    accepted(await service.send('PUT', path, { value: bad }, { key }))
    const named = anUpstream({ name: 'first', team, base_url: first.baseUrl, secret: 'UPSTREAM_KEY' })
    assert.match((await service.post(UPSTREAMS, named, { key })).text, /"secret".*is not valid in a header/)
    accepted(await service.send('PUT', path, { value: 'Geheim-1234' }, { key }))
    await addBoth({ secret: 'UPSTREAM_KEY' })
    const refused = await service.send('PUT', path, { value: bad }, { key })
    assert.equal(refused.status, 422)
    assert.match(refused.text, /The upstream first uses this secret/)
    assert.ok(!refused.text.includes('Geheim'))

    // As an earlier release took it.
    const secret = { team, name: 'UPSTREAM_KEY', version: 3 }
    await service.stores.secrets.put(secret, bad)
    await execute({ eventStore: service.stores.eventStore, ids: systemIds })(
      secretDecider,
      secretStream(team, secret.name),
      [{ type: 'StoreSecret', ...secret, request: null, usedFor: null }],
      { correlationId: 'c', causationId: 'c', actor: 'user' },
    )
    for (let round = 0; round < 6; round += 1) accepted(await ask())
    assert.deepEqual(await lastTries(), ['first: unusable secret', 'second: answered'])
    const { state, faults_in_a_row } = await healthOf(0)
    assert.deepEqual([state, faults_in_a_row, first.arrivals.length], ['in', 0, 0])
    accepted(await service.send('DELETE', `${UPSTREAMS}/${made[1]!}`, undefined, { key }))
    const answer = await ask()
    assert.equal(answer.status, 502)
    assert.match(answer.text, /secret UPSTREAM_KEY is not valid in a header/)
    assert.match(answer.text, /upstream_error/)
    assert.ok(!answer.text.includes('Geheim'))
  })

  it('prices completions by what the upstream of the team costs, in its own team alone', async () => {
    const price = { prompt_token_cost: '0.25', completion_token_cost: '2' }
    await add('first', first, { models: [{ id: 'chat', upstream_id: 'm', price }] })
    accepted(await ask())
    const [call] = (await callsOf(service, project, { include_costs: true })) as unknown as {
      attributes: { tallytree: JsonObject }
      summary: { weave: { costs: Record<string, JsonObject> } }
    }[]
    const costs = call!.summary.weave.costs['chat']!
    assert.deepEqual(
      [costs['prompt_tokens_total_cost'], costs['completion_tokens_total_cost']],
      [11 * 0.25, 1 * 2],
    )
    const named = call!.attributes.tallytree['price'] as JsonObject
    assert.equal(named['prompt_token_cost'], '0.25')
    const usage = { chat: { requests: 1, prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } }
    const other = `${team}-other/inference`
    const started = '2030-01-01T00:00:00Z'
    accepted(
      await service.post('/call/start', {
        start: {
          project_id: other,
          id: 'c',
          trace_id: 'c',
          op_name: 'o',
          started_at: started,
          attributes: {},
          inputs: {},
        },
      }),
    )
    accepted(
      await service.post('/call/end', {
        end: { project_id: other, id: 'c', ended_at: started, summary: { usage } },
      }),
    )
    const [foreign] = (await callsOf(service, other, { include_costs: true })) as unknown as {
      summary: { weave: { costs?: object } }
    }[]
    assert.equal(foreign!.summary.weave.costs, undefined)
  })
})
