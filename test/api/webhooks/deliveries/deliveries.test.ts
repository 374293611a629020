import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { until } from '../../../support/until.js'
import { answers, hangs, inTurn } from '../../../support/receivers/behaviours.js'
import { accepted } from '../../calls/given.js'
import { anAutomation, aWebhook, givenTeam } from '../given.js'
import { FAST, givenAutomation, PUBLIC_URL, startSending, type Listed, type Sending } from './given.js'

type Given = Awaited<ReturnType<typeof givenAutomation>>

describe('the delivery log', () => {
  let sending: Sending
  before(async () => {
    sending = await startSending({ TALLYTREE_PUBLIC_URL: PUBLIC_URL })
  })
  after(() => sending.stop())

  /** Waits until all deliveries of the automation are in a state; answers them, the newest first. */
  const all = async ({ listed }: Given, state: string, count: number): Promise<readonly Listed[]> => {
    await until(async () => (await listed(`state=${state}`)).length === count)
    return listed()
  }

  it('tells of a message that arrived: its attempt, its body without secrets, and what was answered', async () => {
    const given = await givenAutomation(
      sending,
      answers(200, { 'x-hello': 'there' }, 'thank you, very-secret'),
    )
    await given.aliasAdded('prod')
    const [delivery] = await all(given, 'succeeded', 1)
    const { id, state, attempts, status, webhook, event_type, next_at, duration_ms } = delivery!
    assert.deepEqual(
      { state, attempts, status, webhook, event_type, next_at },
      {
        state: 'succeeded',
        attempts: 1,
        status: 200,
        webhook: given.webhook,
        event_type: 'ADD_ARTIFACT_ALIAS',
        next_at: null,
      },
    )
    assert.equal(typeof duration_ms, 'number')
    await until(async () => {
      const [attempt] = (await given.detailOf(id)).attempts
      return attempt!.response !== null
    })
    const detail = await given.detailOf(id)
    assert.equal(detail.body, '{"alias": "prod", "token": "[secret:ACCESS_TOKEN]"}')
    const [attempt] = detail.attempts
    const [received] = given.received
    assert.equal(attempt!.body_digest, createHash('sha256').update(received!.body).digest('hex'))
    assert.equal(attempt!.outcome, 'succeeded')
    assert.equal(attempt!.possible_duplicate, false)
    const sent = attempt!.request_headers!
    assert.equal(sent['Authorization'], 'Bearer [secret]')
    assert.equal(sent['webhook-id'], id)
    const response = attempt!.response!
    assert.equal(response.headers['x-hello'], 'there')
    assert.match(response.body!, /^thank you, /)
    assert.ok(!JSON.stringify(detail).includes('very-secret'))
    assert.equal(detail.source.type, 'AliasAdded')
  })

  it('lists and counts deliveries as they were at an earlier position', async () => {
    const { service } = sending
    const given = await givenAutomation(sending, answers(204))
    const before = await service.stores.eventStore.head()
    await given.aliasAdded('prod')
    const [delivery] = await all(given, 'succeeded', 1)
    const positions = new Map<string, bigint>()
    for await (const { type, position } of service.stores.eventStore.readStream(`delivery-${delivery!.id}`))
      positions.set(type, position)

    for (const [position, states] of [
      [before, []],
      [positions.get('DeliveryScheduled')!, ['pending']],
      [positions.get('AttemptStarted')!, ['in_flight']],
      [positions.get('AttemptFinished')!, ['succeeded']],
    ] as const) {
      const read = async (path: string) => {
        const headers = { 'Tallytree-As-Of': String(position) }
        const answer = await service.send('GET', path, undefined, { headers })
        assert.equal(answer.headers.get('tallytree-position'), String(position), answer.text)
        return accepted(answer)
      }
      for (const path of [
        `/api/deliveries?team=${given.team}`,
        `/api/automations/${given.automation}/deliveries?`,
      ]) {
        const { data } = (await read(path)) as { data: Listed[] }
        assert.deepEqual(
          data.map(({ state }) => state),
          states,
        )
        const { data: some } = (await read(`${path}&state=pending,in_flight`)) as { data: Listed[] }
        assert.equal(some.length, states.filter((state) => state !== 'succeeded').length)
      }
      const { by_state } = await read(`/api/deliveries/counts?team=${given.team}`)
      assert.deepEqual(Object.keys(by_state as object), states)
      const one = `/api/deliveries/${delivery!.id}`
      if (states.length === 0) {
        const headers = { 'Tallytree-As-Of': String(position) }
        assert.equal((await service.send('GET', one, undefined, { headers })).status, 404)
        continue
      }
      const detail = await read(one)
      assert.equal(detail['state'], states[0])
      assert.deepEqual(
        (detail['attempts'] as { outcome: string }[]).map(({ outcome }) => outcome),
        { pending: [], in_flight: ['under_way'], succeeded: ['succeeded'] }[states[0]],
      )
      assert.equal(detail['finished_at'] === null, states[0] !== 'succeeded')
    }
  })

  it('links to the call that an event is about', async () => {
    const given = await givenTeam(sending.service)
    const { url, received } = await sending.receiver(answers(204))
    accepted(await given.postWebhook(aWebhook({ url })))
    const payload = '{"text": "${call_url}", "link": ${call_url}}'
    accepted(
      await given.postAutomation(anAutomation(given.team, { event: { type: 'CALL_FAILED' }, payload })),
    )
    const { calls } = sending.service.in(`${given.team}/project`)
    const { id } = await calls.start().json()
    accepted(await calls.end(id, { exception: 'Error: no' }))
    await until(() => received.length === 1)
    const link = `${PUBLIC_URL}/${given.team}/project/calls/${id}`
    assert.deepEqual(JSON.parse(received[0]!.body.toString()), { text: link, link })
  })

  it('sends a dead delivery again under its own id, and once for one Idempotency-Key', async () => {
    const given = await givenAutomation(
      sending,
      inTurn(answers(500), answers(500), answers(500), answers(204)),
    )
    await given.aliasAdded('prod')
    const [delivery] = await all(given, 'dead', 1)
    assert.deepEqual([delivery!.reason, delivery!.attempts], ['exhausted', 3])
    const path = `/api/deliveries/${delivery!.id}`
    const repeat = { headers: { 'idempotency-key': 'once' } }
    accepted(await given.send('POST', `${path}/resend`, undefined, repeat))
    await all(given, 'succeeded', 1)
    accepted(await given.send('POST', `${path}/resend`, undefined, repeat))
    const again = await given.detailOf(delivery!.id)
    assert.equal(again.state, 'succeeded')
    assert.equal(again.attempts.length, 4)
    assert.equal(again.attempts_before, null)
    const earlier = await given.detailOf(`${delivery!.id}?attempts_before=3`)
    assert.deepEqual([earlier.state, earlier.attempts.map(({ attempt }) => attempt)], ['succeeded', [1, 2]])
    assert.equal((await given.send('GET', `${path}?attempts_before=none`)).status, 422)
    assert.deepEqual(new Set(given.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  })

  it('says where each attempt was sent, to administrators alone', async () => {
    const given = await givenAutomation(sending, answers(500))
    await given.aliasAdded('prod')
    const { id } = (await all(given, 'dead', 1))[0]!
    const moved = await sending.receiver(answers(204))
    accepted(await given.send('PATCH', `${given.webhooks}/${given.webhook}`, { url: moved.url }))
    accepted(await given.send('POST', `/api/deliveries/${id}/resend`))
    await all(given, 'succeeded', 1)
    const { attempts } = await given.detailOf(id)
    const [first, last] = [attempts[0]!.url, attempts.at(-1)!.url]
    assert.ok(first?.endsWith('/in') === true && first !== last)
    assert.equal(last, moved.url)
    const asMember = { key: given.keys.member }
    const seen = accepted(await given.send('GET', `/api/deliveries/${id}`, undefined, asMember))
    const urls = (seen['attempts'] as { url: string | null }[]).map(({ url }) => url)
    assert.deepEqual(new Set(urls), new Set([null]))
  })

  it('shows signatures, headers of the webhook and where it went to team administrators alone', async () => {
    const given = await givenAutomation(sending, answers(200))
    const { team, keys, webhooks, webhook, send } = given
    await sending.service.stores.secrets.put({ team, name: 'HOOK_KEY', version: 1 }, 'hush')
    const content = { secret: 'HOOK_KEY', headers: { 'X-Team': 'acme' } }
    accepted(await send('PATCH', `${webhooks}/${webhook}`, content))
    await given.aliasAdded('prod')
    const { id } = (await all(given, 'succeeded', 1))[0]!
    const path = `/api/deliveries/${id}`
    type Seen = { request_headers: Record<string, string> | null; peer: string | null }
    const attemptFor = async (key: string) =>
      (accepted(await send('GET', path, undefined, { key }))['attempts'] as unknown as Seen[])[0]!
    await until(async () => (await attemptFor(keys.member)).request_headers !== null)
    const { request_headers: whole, peer } = await attemptFor(keys.team_administrator)
    assert.match(whole!['webhook-signature']!, /^v1,/)
    assert.ok(peer !== null && whole!['X-Team'] === 'acme')
    for (const role of ['member', 'project_administrator', 'registry_administrator'] as const) {
      const seen = await attemptFor(keys[role])
      assert.equal(seen.peer, null)
      for (const [name, value] of Object.entries(whole!)) {
        const isHidden = /signature$|^authorization$|^x-team$/i.test(name)
        assert.equal(seen.request_headers![name], isHidden ? '[secret]' : value, name)
      }
      const events = await send('GET', `/api/events?stream=delivery-${id}`, undefined, { key: keys[role] })
      assert.ok(events.text.includes('AttemptFinished') && !events.text.includes(peer))
    }
  })

  it('holds what waits for a disabled webhook, cancels it by hand, and says so in lists', async () => {
    const given = await givenAutomation(sending, answers(200))
    const hook = `${given.webhooks}/${given.webhook}`
    accepted(await given.send('PATCH', hook, { enabled: false }))
    await given.aliasAdded('one')
    await given.aliasAdded('two')
    const [two, one] = await all(given, 'held', 2)
    assert.deepEqual([await given.listed('state=pending'), two!.state], [[], 'held'])
    assert.equal((await given.detailOf(one!.id)).state, 'held')
    accepted(await given.send('POST', `/api/deliveries/${one!.id}/cancel`))
    assert.deepEqual(
      (await given.listed('state=canceled')).map(({ id, reason }) => [id, reason]),
      [[one!.id, 'by_hand']],
    )
    assert.equal((await given.detailOf(one!.id)).reason, 'by_hand')
    accepted(await given.send('PATCH', hook, { enabled: true }))
    await all(given, 'succeeded', 1)
    const refused = await given.send('POST', `/api/deliveries/${two!.id}/cancel`)
    const reason = 'The delivery is succeeded. Only a pending or retrying delivery can be canceled.'
    assert.deepEqual([refused.status, refused.json()], [409, { reason }])
    assert.equal(given.received.length, 1)
  })

  it('redrives as many dead ones as its dry run counts', async () => {
    let well = false
    const given = await givenAutomation(sending, (socket, received) =>
      answers(well ? 200 : 410)(socket, received),
    )
    await given.aliasAdded('one')
    await all(given, 'dead', 1)
    well = true
    const hook = `${given.webhooks}/${given.webhook}`
    await until(async () => accepted(await given.send('GET', hook))['enabled'] === false)
    accepted(await given.send('PATCH', hook, { enabled: true }))
    const path = `/api/automations/${given.automation}/redrive`
    const dry = accepted(await given.send('POST', path, { dry_run: true, reason: 'gone' }))
    assert.deepEqual(dry, { dry_run: true, matching: 1, resent: 0, left: 0, next: null })
    assert.equal(
      accepted(await given.send('POST', path, { dry_run: true, reason: 'too_old' }))['matching'],
      0,
    )
    const real = accepted(await given.send('POST', path, { dry_run: false }))
    assert.deepEqual(real, { dry_run: false, matching: 1, resent: 1, left: 0, next: null })
    await all(given, 'succeeded', 1)
    assert.equal(accepted(await given.send('POST', path, { dry_run: true }))['matching'], 0)
  })

  it('redrives in steps, each where the one before stopped, and none whose webhook is gone', async () => {
    const given = await givenAutomation(sending, answers(404))
    const hook = `${given.webhooks}/${given.webhook}`
    accepted(await given.send('PATCH', hook, { stop_on_4xx: true }))
    for (const alias of ['a', 'b', 'c']) await given.aliasAdded(alias)
    await all(given, 'dead', 3)
    const path = `/api/automations/${given.automation}/redrive`
    let after: unknown = null
    const left: unknown[] = []
    do {
      const step = accepted(await given.send('POST', path, { dry_run: false, limit: 2, after }))
      left.push([step['matching'], step['resent'], step['left']])
      after = step['next']
      await all(given, 'dead', 3)
    } while (after !== null)
    assert.deepEqual(left, [
      [3, 2, 1],
      [1, 1, 0],
    ])
    assert.equal(given.received.length, 6)
    assert.equal((await given.send('POST', path, { dry_run: true, after: 'x' })).status, 422)
    accepted(await given.send('DELETE', `${hook}?force=true`))
    for (const dry_run of [true, false]) {
      const { matching, resent } = accepted(await given.send('POST', path, { dry_run }))
      assert.deepEqual([matching, resent], [0, 0])
    }
  })

  it('resends none twice for one Idempotency-Key', async () => {
    const given = await givenAutomation(sending, answers(404))
    accepted(await given.send('PATCH', `${given.webhooks}/${given.webhook}`, { stop_on_4xx: true }))
    for (const alias of ['a', 'b', 'c']) await given.aliasAdded(alias)
    await all(given, 'dead', 3)
    const options = { headers: { 'idempotency-key': 'once' } }
    const path = `/api/automations/${given.automation}/redrive`
    for (let time = 0; time < 2; time += 1) {
      const redriven = accepted(await given.send('POST', path, { dry_run: false, limit: 2 }, options))
      assert.deepEqual([redriven['matching'], redriven['resent'], redriven['left']], [3, 2, 1])
      await until(async () => given.received.length === 5)
      await all(given, 'dead', 3)
    }
    assert.deepEqual(
      (await given.listed()).map(({ attempts }) => attempts),
      [2, 2, 1],
    )
  })

  it('is canceled with its webhook, whose deletion counts what waited, the same each time', async () => {
    const given = await givenAutomation(sending, answers(200))
    const hook = `${given.webhooks}/${given.webhook}`
    await given.aliasAdded('sent')
    await all(given, 'succeeded', 1)
    accepted(await given.send('PATCH', hook, { enabled: false }))
    for (const alias of ['one', 'two']) await given.aliasAdded(alias)
    await all(given, 'held', 2)
    assert.deepEqual(accepted(await given.send('DELETE', `${hook}?force=true`)), { canceled: 2 })
    const [canceled] = await all(given, 'canceled', 2)
    assert.equal(canceled!.reason, 'webhook_deleted')
    assert.equal((await given.detailOf(canceled!.id)).reason, 'webhook_deleted')
    assert.deepEqual(accepted(await given.send('DELETE', `${hook}?force=true`)), { canceled: 2 })
    assert.equal(given.received.length, 1)
  })

  it('lists a team in pages, by webhook, automation, state and status', async () => {
    const given = await givenAutomation(sending, answers(200))
    for (const alias of ['a', 'b', 'c', 'd', 'e']) await given.aliasAdded(alias)
    const newest = await all(given, 'succeeded', 5)
    const ids: unknown[] = []
    for (let after = ''; ;) {
      const query = `team=${given.team}&limit=2&status=200${after}`
      const page = accepted(await given.send('GET', `/api/deliveries?${query}`)) as unknown as {
        data: Listed[]
        next: string | null
      }
      ids.push(...page.data.map(({ id }) => id))
      if (page.next === null) break
      after = `&after=${page.next}`
    }
    assert.deepEqual(
      ids,
      newest.map(({ id }) => id),
    )
    const asked = async (query: string) =>
      (accepted(await given.send('GET', `/api/deliveries?team=${given.team}&${query}`))['data'] as unknown[])
        .length
    assert.equal(await asked(`webhook=${given.webhook}&automation=${given.automation}`), 5)
    assert.equal(await asked('webhook=another'), 0)
    assert.equal(await asked('status=500'), 0)
    assert.equal(await asked('from=2100-01-01T00:00:00Z'), 0)
    for (const wrong of ['state=lost', 'status=1', 'limit=0', 'after=x', 'from=x', 'other=1'])
      assert.equal(
        (await given.send('GET', `/api/deliveries?team=${given.team}&${wrong}`)).status,
        422,
        wrong,
      )
    assert.equal((await given.send('GET', '/api/deliveries')).status, 422)
  })

  it('lets members read, and those alone act who may change the automation', async () => {
    const given = await givenAutomation(sending, hangs, { ...FAST, timeout_s: 2 })
    await given.aliasAdded('prod')
    await until(async () => (await given.listed()).length === 1)
    const [delivery] = await given.listed()
    const path = `/api/deliveries/${delivery!.id}`
    const as = (key: string) => ({ key })
    const { member, registry_administrator, project_administrator } = given.keys
    assert.equal((await given.send('GET', path, undefined, as(member))).status, 200)
    for (const action of ['resend', 'cancel']) {
      const send = (key: string) => given.send('POST', `${path}/${action}`, undefined, as(key))
      assert.equal((await send(member)).status, 403)
      assert.equal((await send(registry_administrator)).status, 403)
      assert.ok([200, 409].includes((await send(project_administrator)).status))
    }
    const redrive = `/api/automations/${given.automation}/redrive`
    assert.equal((await given.send('POST', redrive, { dry_run: true }, as(member))).status, 403)
  })

  it('is to other teams as if it were not there', async () => {
    const given = await givenAutomation(sending, answers(200))
    await given.aliasAdded('prod')
    const [delivery] = await all(given, 'succeeded', 1)
    const { source } = delivery!
    const { automation, stranger } = given
    const paths = (id: string, of: string): readonly (readonly [string, string, unknown?])[] => [
      ['GET', `/api/deliveries/${id}`],
      ['POST', `/api/deliveries/${id}/resend`],
      ['POST', `/api/deliveries/${id}/cancel`],
      ['GET', `/api/automations/${of}/deliveries`],
      ['GET', `/api/automations/${of}/why?event=${source.position}`],
      ['POST', `/api/automations/${of}/backtest`, {}],
      ['POST', `/api/automations/${of}/redrive`, { dry_run: false }],
    ]
    const absent = paths('dlv_none', 'none')
    for (const [at, [method, path, body]] of paths(delivery!.id, automation).entries()) {
      const seen = await given.send(method, path, body, { key: stranger })
      const [, missing, same] = absent[at]!
      const nothing = await given.send(method, missing, same, { key: stranger })
      assert.deepEqual([seen.status, seen.text], [404, nothing.text], path)
    }
    const list = await given.send('GET', `/api/deliveries?team=${given.team}`, undefined, { key: stranger })
    const none = await given.send('GET', '/api/deliveries?team=no-team', undefined, { key: stranger })
    assert.deepEqual([list.status, list.text], [404, none.text])
  })
})
