import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted, eventsOf, reasonOf, textIn, told, writesNothing } from '../calls/given.js'
import { aWebhook, givenTeam } from './given.js'

describe('webhooks', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  it('are released by a team administrator, unless they are disabled or deleted', async () => {
    const { team, webhooks, postWebhook, send } = await givenTeam(service)
    const made = accepted(await postWebhook(aWebhook()))
    const id = textIn(made, 'id')
    const release = () => send('POST', `${webhooks}/${id}/release`, {})
    assert.deepEqual(accepted(await release()), made)
    const released = { id, team }
    const [event] = (await eventsOf(service, `webhook-${id}`)).slice(-1)
    assert.deepEqual([event?.type, event?.data], ['WebhookReleased', released])
    accepted(await send('PATCH', `${webhooks}/${id}`, { enabled: false }))
    assert.match(reasonOf(await release(), 409), /is disabled/)
    accepted(await send('DELETE', `${webhooks}/${id}`))
    reasonOf(await release(), 404)
  })

  it('are made, read, listed by name, changed and deleted by a team administrator', async () => {
    const { team, webhooks, postWebhook, send } = await givenTeam(service)
    const made = accepted(
      await postWebhook(
        aWebhook({ access_token: 'TOKEN', secret: 'HOOK_KEY', retry_waits_s: [1, 2.5], timeout_s: 5 }),
      ),
    )
    const id = textIn(made, 'id')
    const by = `team_administrator-of-${team}`
    const at = made['created_at']
    assert.deepEqual(made, {
      id,
      team,
      used_by: [],
      created_at: at,
      created_by: by,
      updated_at: at,
      updated_by: by,
      name: 'hook',
      url: 'https://hooks.example/in',
      access_token: 'TOKEN',
      secret: 'HOOK_KEY',
      retry_waits_s: [1, 2.5],
      timeout_s: 5,
      stop_on_4xx: null,
      max_per_minute: null,
      headers: null,
      state: 'healthy',
      consecutive_failures: 0,
      throttled_until: null,
      failing_since: null,
      next_probe_at: null,
      last_error: null,
      last_delivery: null,
      attempts_24h: 0,
      success_rate_24h: null,
      enabled: true,
      disabled_reason: null,
    })
    accepted(await postWebhook(aWebhook({ name: 'another', enabled: false })))
    const list = async (query = '') => accepted(await send('GET', `${webhooks}${query}`))
    const names = ({ data }: { data?: unknown }) => (data as { name: string }[]).map(({ name }) => name)
    assert.deepEqual(names(await list()), ['another', 'hook'])
    assert.deepEqual(accepted(await send('GET', `${webhooks}/${id}`)), made)

    const first = await list('?limit=1')
    assert.deepEqual([names(first), first['next']], [['another'], 'another'])
    assert.deepEqual(names(await list('?limit=1&after=another')), ['hook'])

    const changed = accepted(
      await send('PATCH', `${webhooks}/${id}`, { name: 'renamed', secret: null, enabled: false }),
    )
    assert.deepEqual(changed, {
      ...made,
      name: 'renamed',
      secret: null,
      enabled: false,
      state: 'disabled',
      disabled_reason: 'by_hand',
      updated_at: changed['updated_at'],
    })
    assert.ok((changed['updated_at'] as string) >= (at as string))
    assert.deepEqual(names(await list()), ['another', 'renamed'])
    assert.equal(accepted(await send('PATCH', `${webhooks}/${id}`, { enabled: true }))['enabled'], true)

    accepted(await send('DELETE', `${webhooks}/${id}`))
    assert.deepEqual(names(await list()), ['another'])
    reasonOf(await send('GET', `${webhooks}/${id}`), 404)
    reasonOf(await send('PATCH', `${webhooks}/${id}`, { enabled: true }), 404)
    await writesNothing(service, async () => accepted(await send('DELETE', `${webhooks}/${id}`)))
    accepted(await postWebhook(aWebhook()))

    const events = await eventsOf(service, `webhook-${id}`)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['WebhookCreated', 'WebhookChanged', 'WebhookDisabled', 'WebhookEnabled', 'WebhookDeleted'],
    )
    for (const { metadata } of events) assert.equal(metadata.actor, `team_administrator-of-${team}`)
  })

  it('are changed by team administrators only; strangers do not find the team', async () => {
    const { keys, stranger, webhooks, postWebhook, send } = await givenTeam(service)
    const id = textIn(accepted(await postWebhook(aWebhook())), 'id')
    await writesNothing(service, async () => {
      for (const [method, path, body] of [
        ['POST', webhooks, aWebhook({ name: 'x' })],
        ['PATCH', `${webhooks}/${id}`, { enabled: false }],
        ['DELETE', `${webhooks}/${id}`, undefined],
      ] as const) {
        for (const role of ['member', 'project_administrator', 'registry_administrator'] as const)
          assert.match(
            reasonOf(await send(method, path, body, { key: keys[role] }), 403),
            /team_administrator/,
          )
        reasonOf(await send(method, path, body, { key: stranger }), 404)
      }
    })
  })

  it('of others are not there behind the path of a team of mine', async () => {
    const [mine, theirs] = [await givenTeam(service), await givenTeam(service)]
    const id = textIn(accepted(await theirs.postWebhook(aWebhook())), 'id')
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { enabled: false } : undefined
      const [there, none] = [id, 'nothing'].map((one) => mine.send(method, `${mine.webhooks}/${one}`, body))
      const answers = [await there!, await none!]
      assert.equal(reasonOf(answers[0]!, 404), reasonOf(answers[1]!, 404))
      assert.equal(answers[0]!.text, answers[1]!.text)
    }
  })

  it('have a name once in their team, and say which one has it', async () => {
    const { postWebhook, send, webhooks } = await givenTeam(service)
    const first = accepted(await postWebhook(aWebhook()))
    const second = textIn(accepted(await postWebhook(aWebhook({ name: 'second' }))), 'id')
    await writesNothing(service, async () => {
      for (const answer of [
        await postWebhook(aWebhook({ url: 'https://elsewhere.example/' })),
        await send('PATCH', `${webhooks}/${second}`, { name: 'hook' }),
      ]) {
        reasonOf(answer, 409)
        assert.equal(answer.json()['id'], first['id'])
      }
    })
    accepted(await (await givenTeam(service)).postWebhook(aWebhook()))
  })

  it('made again with the same Idempotency-Key are the same one', async () => {
    const { postWebhook, keys } = await givenTeam(service)
    const headers = { 'idempotency-key': 'k' }
    const made = accepted(await postWebhook(aWebhook(), { headers }))
    await writesNothing(service, async () => {
      assert.deepEqual(accepted(await postWebhook(aWebhook(), { headers })), made)
      reasonOf(await postWebhook(aWebhook({ name: 'other' }), { headers }), 409)
      assert.match(
        (await postWebhook(aWebhook(), { headers: { 'idempotency-key': 'k'.repeat(256) } })).text,
        /Idempotency-Key/,
      )
    })
    reasonOf(await postWebhook(aWebhook(), { headers, key: keys.member }), 403)
  })

  it('may have a name that somebody took and never used, or goes by no longer', async () => {
    const { team, append, postWebhook, send, webhooks } = await givenTeam(service)
    const names = `names-${team}`
    const taken = (name: string, id: string) => ({ team, kind: 'webhook', name, id })
    await append(names, 'NameTaken', taken('hook', 'never-made'))
    const id = textIn(accepted(await postWebhook(aWebhook())), 'id')
    await append(names, 'NameTaken', taken('old', id))
    assert.equal((accepted(await send('GET', webhooks))['data'] as unknown[]).length, 1)
    accepted(await postWebhook(aWebhook({ name: 'old' })))
    assert.equal((accepted(await send('GET', webhooks))['data'] as unknown[]).length, 2)
  })

  it('made at once under one name are one', async () => {
    const { postWebhook, send, webhooks } = await givenTeam(service)
    const answers = await Promise.all(Array.from({ length: 5 }, () => postWebhook(aWebhook())))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409])
    assert.equal((accepted(await send('GET', webhooks))['data'] as unknown[]).length, 1)
  })

  it('are refused with the place of what is wrong, and without quoting it', async () => {
    const { team, append, postWebhook, send, webhooks } = await givenTeam(service)
    const refused = async (more: object) => told(await postWebhook(aWebhook(more)))
    await append(`secret-${team}/GONE`, 'SecretDestroyed', { team, name: 'GONE' })
    await writesNothing(service, async () => {
      for (const url of [
        '',
        'hooks.example',
        'ftp://hooks.example/',
        'file:///etc/passwd',
        'https://user:pass@hooks.example/',
        'https://user@hooks.example/',
        'https://',
        'http:hooks.example',
        'https://hooks.example/\na',
        ' https://hooks.example/',
        'https://hooks.example:99999/',
      ])
        assert.deepEqual(await refused({ url }), ['value_error url'], url)
      assert.deepEqual(await refused({ url: `https://hooks.example/${'a'.repeat(2048)}` }), [
        'string_too_long url',
      ])
      assert.deepEqual(await refused({ name: '' }), ['string_too_short name'])
      assert.deepEqual(await refused({ access_token: 'NONE', secret: 'GONE' }), [
        'value_error access_token',
        'value_error secret',
      ])
      assert.deepEqual(await refused({ secret: 'not a name' }), ['string_pattern_mismatch secret'])
      assert.deepEqual(await refused({ timeout_s: 31 }), ['less_than_equal timeout_s'])
      assert.deepEqual(await refused({ retry_waits_s: [1, -1, 1e9] }), [
        'value_error retry_waits_s.1',
        'value_error retry_waits_s.2',
      ])
      assert.deepEqual(await refused({ retry_waits_s: Array.from({ length: 33 }, () => 1) }), [
        'value_error retry_waits_s',
      ])
      assert.deepEqual(await refused({ secrets: ['a', 'b'] }), ['extra_forbidden secrets'])
      assert.ok(!(await postWebhook(aWebhook({ url: 'ftp://canary' }))).text.includes('canary'))
    })
    const id = textIn(accepted(await postWebhook(aWebhook())), 'id')
    await writesNothing(service, async () => {
      const change = async (body: object) => told(await send('PATCH', `${webhooks}/${id}`, body))
      assert.deepEqual(await change({ url: 'x:y', name: null }), ['string_type name'])
      assert.deepEqual(await change({ url: 'x:y' }), ['value_error url'])
      assert.deepEqual(await change({ secret: 'NONE' }), ['value_error secret'])
      accepted(await send('PATCH', `${webhooks}/${id}`, {}))
    })
  })
})
