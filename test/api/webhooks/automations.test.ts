import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted, eventsOf, reasonOf, textIn, told, writesNothing } from '../calls/given.js'
import { anAutomation, aWebhook, givenTeam, projectScope, registryScope } from './given.js'

const NO_CONDITION = {
  alias_pattern: null,
  tag_pattern: null,
  metric: null,
  aggregation: null,
  window: null,
  comparison: null,
  threshold: null,
  prior_window: null,
  change_type: null,
  change_direction: null,
  change_amount: null,
  states: null,
  measure: null,
  outcomes: null,
  evaluation_pattern: null,
  scorer: null,
  score_path: null,
}

/** Without who changed it last. */
const unchanged = ({ updated_at: _, updated_by: __, ...automation }: JsonObject): JsonObject => automation

describe('automations', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  const givenHook = async (more: object = {}) => {
    const given = await givenTeam(service)
    const hook = textIn(accepted(await given.postWebhook(aWebhook(more))), 'id')
    const change = (id: string, body: object) => given.send('PATCH', `/api/automations/${id}`, body)
    return { ...given, hook, change }
  }

  it('are made, read, listed by name, changed and deleted', async () => {
    const { team, hook, postAutomation, send, change } = await givenHook()
    const made = accepted(await postAutomation(anAutomation(team, { description: 'says so' })))
    const id = textIn(made, 'id')
    const by = `team_administrator-of-${team}`
    assert.deepEqual([made['created_by'], made['updated_by']], [by, by])
    assert.deepEqual(unchanged(made), {
      id,
      team,
      action_type: 'webhook',
      broken: null,
      query: null,
      last_fired_at: null,
      fired_24h: 0,
      failed_24h: 0,
      created_at: made['created_at'],
      created_by: by,
      name: 'on production',
      description: 'says so',
      webhook: hook,
      enabled: true,
      payload: '{"alias":"${alias}"}',
      scope: { type: 'project', entity: team, project: 'project', registry: null },
      event: { ...NO_CONDITION, type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '^prod' },
      run_filters: null,
    })
    accepted(await postAutomation(anAutomation(team, { name: 'a', webhook: hook, scope: registryScope })))
    const names = async (query: string) => {
      const { data, next } = accepted(await send('GET', `/api/automations?team=${team}${query}`))
      return [...(data as { name: string }[]).map(({ name }) => name), next]
    }
    assert.deepEqual(await names(''), ['a', 'on production', null])
    assert.deepEqual(await names('&limit=1'), ['a', 'a'])
    assert.deepEqual(await names('&limit=1&after=a'), ['on production', null])
    assert.deepEqual(accepted(await send('GET', `/api/automations/${id}`)), made)

    const changed = accepted(await change(id, { name: 'z', enabled: false, description: null }))
    assert.deepEqual(unchanged(changed), { ...unchanged(made), name: 'z', enabled: false, description: null })
    accepted(await send('DELETE', `/api/automations/${id}`))
    reasonOf(await send('GET', `/api/automations/${id}`), 404)
    reasonOf(await change(id, { enabled: true }), 404)
    await writesNothing(service, async () => accepted(await send('DELETE', `/api/automations/${id}`)))
    assert.deepEqual(await names(''), ['a', null])
    const events = await eventsOf(service, `automation-${id}`)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['AutomationCreated', 'AutomationChanged', 'AutomationDisabled', 'AutomationDeleted'],
    )
    for (const { metadata } of events) assert.equal(metadata.actor, `team_administrator-of-${team}`)
  })

  it('read a registry of their scope from the events since the last request, of a team with many', async () => {
    const { team, postAutomation, append } = await givenHook()
    const registry = (name: string) =>
      append(`registry-${team}`, 'RegistryCreated', { team, registry: name, id: name })
    for (let n = 0; n < 64; n += 1) await registry(`r-${n}`)
    const post = async (name: string) =>
      accepted(await postAutomation(anAutomation(team, { name, scope: registryScope })))
    const store = service.stores.eventStore as { readStream: EventStore['readStream'] }
    const readStream = store.readStream.bind(store)
    const read: unknown[] = []
    store.readStream = async function* (stream, options) {
      for await (const event of readStream(stream, options)) {
        if (stream === `registry-${team}` && options?.backwards !== true) read.push(event.data['registry'])
        yield event
      }
    }
    try {
      await post('first')
      assert.equal(read.length, 65)
      await registry('later')
      await post('second')
    } finally {
      store.readStream = readStream
    }
    assert.deepEqual(read.slice(65), ['later'])
  })

  it('keep what a change does not name, the filters of their event among it', async () => {
    const { team, postAutomation, change } = await givenHook()
    const event = {
      type: 'RUN_METRIC',
      metric: 'loss',
      comparison: '$lt',
      threshold: 1,
      aggregation: 'MAX',
      window: 5,
    }
    const run_filters = { user: 'ada', name_pattern: '^exp' }
    const made = { ...unchanged(accepted(await postAutomation(anAutomation(team, { event, run_filters })))) }
    const id = textIn(made, 'id')
    for (const [body, more] of [
      [{ name: 'other' }, { name: 'other' }],
      [{ payload: '{}' }, { payload: '{}' }],
      [{ enabled: false }, { enabled: false }],
      [{ event: { threshold: 2 } }, { event: { ...(made['event'] as object), threshold: 2 } }],
      [{ run_filters: { user: null } }, { run_filters: { user: null, name_pattern: '^exp' } }],
      [{ run_filters: null }, { run_filters: null }],
    ] as [object, JsonObject][]) {
      Object.assign(made, more)
      assert.deepEqual(unchanged(accepted(await change(id, body))), made, JSON.stringify(body))
    }
    await writesNothing(service, async () =>
      accepted(await change(id, { event: made['event'], name: 'other' })),
    )
    const resets = (await eventsOf(service, `automation-${id}`)).flatMap(({ type, data }) =>
      type === 'AutomationChanged' ? [data['resets']] : [],
    )
    assert.deepEqual(resets.slice(0, 5), [false, false, true, true, true])
  })

  it('of another type keep nothing of the event before', async () => {
    const { team, postAutomation, change } = await givenHook()
    const id = textIn(accepted(await postAutomation(anAutomation(team))), 'id')
    await writesNothing(service, async () =>
      assert.deepEqual(told(await change(id, { event: { type: 'RUN_STATE' } })), ['missing event.states']),
    )
    const event = { type: 'RUN_STATE', states: ['FAILED'] }
    assert.deepEqual(accepted(await change(id, { event }))['event'], { ...NO_CONDITION, ...event })
  })

  it('of a metric without a name, as logs of before may have one, stay and can be changed', async () => {
    const { team, hook, append, send, change } = await givenHook()
    const id = `unnamed-of-${team}`
    const metric = { type: 'RUN_METRIC', metric: '', comparison: '$lt', threshold: 1 }
    const content = { ...anAutomation(team, { id, webhook: hook, event: metric }), enabled: true }
    await append(`automation-${id}`, 'AutomationCreated', content)
    const { event } = accepted(await send('GET', `/api/automations/${id}`))
    assert.deepEqual(event, { ...NO_CONDITION, ...metric })
    assert.equal(accepted(await change(id, { enabled: false }))['enabled'], false)
    await writesNothing(service, async () =>
      assert.deepEqual(told(await change(id, { event: { metric: '' } })), ['string_too_short event.metric']),
    )
    accepted(await change(id, { event: { metric: 'loss' } }))
  })

  it('need the right that their scope needs', async () => {
    const { team, keys, postAutomation, send } = await givenHook()
    const teamEvent = { scope: { type: 'team' }, event: { type: 'WEBHOOK_DISABLED' } }
    const needed = {
      project_administrator: { scope: projectScope },
      registry_administrator: { scope: registryScope },
      team_administrator: teamEvent,
    }
    for (const [role, more] of Object.entries(needed)) {
      for (const [asked, key] of Object.entries(keys)) {
        const answer = await postAutomation(anAutomation(team, { name: `${role} ${asked}`, ...more }), {
          key,
        })
        if (asked === role || asked === 'team_administrator') accepted(answer)
        else assert.match(reasonOf(answer, 403), new RegExp(role))
      }
      const { data } = accepted(
        await send('GET', `/api/automations?team=${team}`, undefined, { key: keys.member }),
      )
      const { id } = (data as { id: string; name: string }[]).find(({ name }) => name.startsWith(role))!
      accepted(await send('GET', `/api/automations/${id}`, undefined, { key: keys.member }))
      for (const [asked, key] of Object.entries(keys)) {
        if (asked === role || asked === 'team_administrator') continue
        reasonOf(await send('PATCH', `/api/automations/${id}`, { name: 'n' }, { key }), 403)
        reasonOf(await send('DELETE', `/api/automations/${id}`, undefined, { key }), 403)
      }
    }
  })

  it('may not be moved to a scope that one has no right to', async () => {
    const { team, keys, postAutomation, send } = await givenHook()
    const id = textIn(accepted(await postAutomation(anAutomation(team))), 'id')
    const move = (key: string) => send('PATCH', `/api/automations/${id}`, { scope: registryScope }, { key })
    reasonOf(await move(keys.project_administrator), 403)
    reasonOf(await move(keys.registry_administrator), 403)
    accepted(await move(keys.team_administrator))
  })

  it('have a name once in their team, and repeat under an Idempotency-Key', async () => {
    const { team, hook, postAutomation, postWebhook, send, webhooks } = await givenHook({
      secret: 'HOOK_KEY',
    })
    accepted(await postWebhook(aWebhook({ name: 'on production' })))
    const headers = { 'idempotency-key': 'k' }
    const body = anAutomation(team, { payload: '["plain"]' })
    const made = accepted(await postAutomation(body, { headers }))
    await writesNothing(service, async () => {
      const again = await postAutomation(anAutomation(team))
      assert.equal(reasonOf(again, 409), 'The team already has an automation with this name.')
      assert.equal(again.json()['id'], made['id'])
      assert.deepEqual(accepted(await postAutomation(body, { headers })), made)
      reasonOf(await postAutomation(anAutomation(team, { name: 'x' }), { headers }), 409)
    })
    accepted(await send('PATCH', `${webhooks}/${hook}`, { secret: null }))
    await writesNothing(service, async () =>
      assert.deepEqual(accepted(await postAutomation(body, { headers })), made),
    )
  })

  it('are refused when the Idempotency-Key has less than 1 or more than 255 bytes', async () => {
    const { team, postAutomation } = await givenHook()
    for (const length of [0, 256]) {
      const headers = { 'idempotency-key': 'k'.repeat(length) }
      const refused = await postAutomation(anAutomation(team), { headers })
      assert.equal(refused.status, 422)
      assert.match(refused.text, /\["header","Idempotency-Key"\]/)
    }
  })

  it('repeat under an Idempotency-Key whatever became of their webhook, and with another one are a conflict', async () => {
    const { team, hook, postAutomation, postWebhook, send, webhooks } = await givenHook()
    const repeat = (webhook: string) =>
      postAutomation(anAutomation(team, { webhook }), { headers: { 'idempotency-key': 'k' } })
    let made = accepted(await repeat('hook'))
    const rename = (id: string, name: string) => send('PATCH', `${webhooks}/${id}`, { name })
    const isRepeated = (webhook: string) =>
      writesNothing(service, async () => assert.deepEqual(accepted(await repeat(webhook)), made))

    accepted(await rename(hook, 'renamed'))
    await isRepeated('hook')
    const other = textIn(accepted(await postWebhook(aWebhook())), 'id')
    for (const named of ['hook', hook, 'renamed']) await isRepeated(named)
    reasonOf(await repeat(other), 409)
    accepted(await rename(other, 'other'))
    reasonOf(await repeat('other'), 409)
    const broken = accepted(await send('GET', `/api/automations/${textIn(made, 'id')}`))['broken']
    assert.equal(broken, null)
    const inUse = await send('DELETE', `${webhooks}/${hook}`)
    assert.match(reasonOf(inUse, 409), /force=true/)
    assert.deepEqual(inUse.json()['used_by'], [{ kind: 'automation', id: made['id'], name: made['name'] }])
    accepted(await send('DELETE', `${webhooks}/${hook}?force=true`))
    made = { ...made, broken: 'webhook_deleted' }
    for (const named of ['hook', hook]) await isRepeated(named)
    reasonOf(await repeat('other'), 409)
    assert.deepEqual(told(await repeat('nothing')), ['value_error webhook'])
  })

  it('send to a webhook of their team, by name or id', async () => {
    const [mine, theirs] = [await givenHook(), await givenHook()]
    const gone = textIn(accepted(await mine.postWebhook(aWebhook({ name: 'gone' }))), 'id')
    accepted(await mine.send('DELETE', `${mine.webhooks}/${gone}`))
    await writesNothing(service, async () => {
      for (const webhook of [theirs.hook, 'nothing', gone, 'gone'])
        assert.deepEqual(told(await mine.postAutomation(anAutomation(mine.team, { webhook }))), [
          'value_error webhook',
        ])
    })
    accepted(await mine.postAutomation(anAutomation(mine.team, { webhook: mine.hook })))
  })

  it('have payloads that are templates for their webhook', async () => {
    const { team, hook, postAutomation, postWebhook, send, webhooks, change } = await givenHook({
      secret: 'HOOK_KEY',
    })
    const refused = async (payload: string) => told(await postAutomation(anAutomation(team, { payload })))
    await writesNothing(service, async () => {
      for (const payload of [
        '',
        'text',
        '{"a":${alias}',
        '["${nothing}"]',
        '["${ACCESS_TOKEN}"]',
        '["${TOKEN}"]',
      ])
        assert.deepEqual(await refused(payload), ['value_error payload'], payload)
      assert.deepEqual(await refused(`["${'a'.repeat(65_536)}"]`), ['string_too_long payload'])
      assert.ok(
        !(await postAutomation(anAutomation(team, { payload: '["${canary}"]' }))).text.includes('canary'),
      )
    })
    const payload = '{"s":"$HOOK_KEY ${HOOK_KEY}","m":${artifact_metadata.size}}'
    const id = textIn(accepted(await postAutomation(anAutomation(team, { payload }))), 'id')
    const [{ data } = { data: {} }] = await eventsOf(service, `automation-${id}`)
    assert.equal((data as JsonObject)['secret'], 'HOOK_KEY')

    accepted(await postWebhook(aWebhook({ name: 'bare' })))
    await writesNothing(service, async () =>
      assert.deepEqual(told(await change(id, { webhook: 'bare' })), ['value_error payload']),
    )
    accepted(await change(id, { payload: '{}' }))
    accepted(await send('PATCH', `${webhooks}/${hook}`, { secret: null }))
    accepted(await change(id, { enabled: false }))
    assert.deepEqual(told(await change(id, { payload })), ['value_error payload'])
  })

  it('name the secrets of their webhook, which keeps these while they do', async () => {
    const { team, hook, postAutomation, send, webhooks, change } = await givenHook({
      access_token: 'TOKEN',
      secret: 'HOOK_KEY',
    })
    const automation = (name: string, payload: string) =>
      postAutomation(anAutomation(team, { name, payload }))
    const id = textIn(accepted(await automation('of the secret', '["$HOOK_KEY"]')), 'id')
    accepted(await automation('of the token', '["$TOKEN"]'))
    const patch = (body: object) => send('PATCH', `${webhooks}/${hook}`, body)
    await writesNothing(service, async () => {
      const answer = await patch({ secret: 'TOKEN' })
      assert.deepEqual(told(answer), ['value_error secret'])
      assert.match(answer.text, /Payloads of automations use this secret: of the secret\. Change these/)
      assert.deepEqual(told(await patch({ access_token: null, secret: null })), [
        'value_error access_token',
        'value_error secret',
      ])
    })
    accepted(await patch({ access_token: 'HOOK_KEY', url: 'https://hooks.example/other' }))
    accepted(await change(id, { payload: '["text"]' }))
    accepted(await patch({ secret: null }))
    assert.deepEqual(told(await patch({ access_token: null })), ['value_error access_token'])
  })

  it('are refused for unknown variables and wrong patterns with the place and a suggestion', async () => {
    const { team, postAutomation } = await givenHook({ secret: 'HOOK_KEY' })
    const placesIn = async (more: object) =>
      (await postAutomation(anAutomation(team, more)))
        .json<{ detail: readonly { loc: readonly string[]; ctx?: object }[] }>()
        .detail.map(({ loc, ctx }) => [loc.slice(1).join('.'), ctx])
    assert.deepEqual(await placesIn({ payload: '["$HOOK_KAY", 1]' }), [
      ['payload', { start: 2, end: 11, suggestion: '${HOOK_KEY}' }],
    ])
    assert.deepEqual(await placesIn({ payload: '{"a": "${entityname}"}' }), [
      ['payload', { start: 7, end: 20, suggestion: '${entity_name}' }],
    ])
    assert.deepEqual(await placesIn({ payload: '{"a": }' }), [
      ['payload', { start: 0, end: 7, suggestion: null }],
    ])
    const event = { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: 'v(?=1)' }
    assert.deepEqual(await placesIn({ event }), [
      ['event.alias_pattern', { start: 1, end: 4, suggestion: null }],
    ])
    accepted(await postAutomation(anAutomation(team, { payload: '["costs $5 or $$USD"]' })))
  })

  it('are refused with the places of all that is wrong', async () => {
    const { team, postAutomation } = await givenHook()
    const refused = async (more: object) => told(await postAutomation(anAutomation(team, more)))
    const onEvent = (event: object, more: object = {}) => refused({ event, ...more })
    const metric = { type: 'RUN_METRIC', metric: 'loss', comparison: '$lt', threshold: 1 }
    await writesNothing(service, async () => {
      assert.deepEqual(await onEvent({ type: 'ADD_ARTIFACT_ALIAS' }), ['missing event.alias_pattern'])
      assert.deepEqual(await onEvent({ type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '(a', tag_pattern: 'b' }), [
        'extra_forbidden event.tag_pattern',
        'value_error event.alias_pattern',
      ])
      assert.deepEqual(await onEvent({ type: 'NOTHING' }), ['literal_error event.type'])
      assert.deepEqual(await onEvent({ type: 'RUN_METRIC' }), [
        'missing event.metric',
        'missing event.comparison',
        'missing event.threshold',
      ])
      assert.deepEqual(await onEvent({ ...metric, metric: '' }), ['string_too_short event.metric'])
      assert.deepEqual(await onEvent({ ...metric, window: 5 }), ['value_error event.window'])
      assert.deepEqual(await onEvent({ ...metric, aggregation: 'MAX', window: 1001 }), [
        'less_than_equal event.window',
      ])
      assert.deepEqual(await onEvent({ ...metric, comparison: '$near' }), ['literal_error event.comparison'])
      assert.deepEqual(await onEvent(metric, { scope: registryScope }), ['value_error scope.type'])
      assert.deepEqual(await onEvent(metric, { run_filters: { name_pattern: '*' } }), [
        'value_error run_filters.name_pattern',
      ])
      assert.deepEqual(await refused({ run_filters: { user: 'ada' } }), ['extra_forbidden run_filters'])
      assert.deepEqual(await onEvent({ type: 'LINK_ARTIFACT' }), ['value_error scope.type'])
      assert.deepEqual(await onEvent({ type: 'RUN_STATE', states: [] }), ['value_error event.states'])
      assert.deepEqual(
        await onEvent({ type: 'CALL_USAGE_THRESHOLD', measure: 'costs', comparison: '$gt', threshold: 1 }),
        ['literal_error event.measure'],
      )
      assert.deepEqual(
        await onEvent({ type: 'RUN_METRIC_CHANGE', metric: 'a', change_type: 'ABSOLUTE', change_amount: 0 }),
        ['value_error event.change_amount'],
      )
      assert.deepEqual(await onEvent({ type: 'RUN_METRIC_ZSCORE', metric: 'a', threshold: 3, window: 1 }), [
        'value_error event.window',
      ])
      assert.deepEqual(await refused({ scope: { type: 'project' } }), ['missing scope.project'])
      assert.deepEqual(await refused({ scope: { type: 'project', entity: 'others', project: 'a/b' } }), [
        'value_error scope.entity',
        'string_pattern_mismatch scope.project',
      ])
      assert.deepEqual(await refused({ scope: { type: 'registry', registry: 'nothing' } }), [
        'value_error scope.registry',
      ])
      assert.deepEqual(await refused({ scope: { type: 'team', project: 'a' } }), [
        'extra_forbidden scope.project',
        'value_error scope.type',
      ])
      assert.deepEqual(await refused({ name: '', colour: 'red' }), [
        'string_too_short name',
        'extra_forbidden colour',
      ])
    })
  })
})
