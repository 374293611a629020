import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteAttemptRecords } from '../../../../src/adapters/attempt-records/sqlite-attempt-records.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import type { RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import { answers, hangs, inTurn } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Behaviour, type Receiver } from '../../../support/receivers/receiver.js'
import {
  aliasAdded,
  automationCreated,
  COLLECTION,
  startDispatching,
  webhookCreated,
  type Dispatching,
} from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'

const FAST = { retry_waits_s: [0.05, 0.05, 0.05, 0.05, 0.05], timeout_s: 30 }

describe('the dispatcher', () => {
  let log: Dispatching
  let receivers: Receiver[]
  beforeEach(async () => {
    log = await startDispatching()
    receivers = []
  })
  afterEach(async () => {
    await log.stop()
    for (const receiver of receivers) await receiver.stop()
  })

  const receiver = async (behaviour: Behaviour, address = '127.0.0.1'): Promise<Receiver> => {
    const started = await startReceiver(behaviour, { address })
    receivers.push(started)
    return started
  }
  const given = async (behaviour: Behaviour, content: Readonly<Record<string, unknown>> = FAST) => {
    const started = await receiver(behaviour)
    await log.addWebhook(`${started.url}hook`, content)
    return started
  }
  const typesOf = (events: readonly RecordedEvent[]) => events.map(({ type }) => type)
  const hasWritten = (...types: readonly string[]) =>
    until(async () => {
      const written = typesOf(await log.deliveryEvents())
      return types.every((type) => written.includes(type))
    })
  const ended = (count: number) =>
    until(async () => {
      const over = (await log.deliveryEvents()).filter(
        ({ type, data }) => type === 'AttemptFinished' && data['outcome'] !== 'retry',
      )
      return over.length >= count
    })

  it('sends what an automation matches once, and writes three events of it', async () => {
    const { received } = await given(answers(200))
    await log.start()
    await log.append(COLLECTION, aliasAdded('prod'))
    await ended(1)
    const events = await log.deliveryEvents()
    assert.deepEqual(typesOf(events), ['DeliveryScheduled', 'AttemptStarted', 'AttemptFinished'])
    assert.equal(received.length, 1)
    assert.deepEqual(JSON.parse(received[0]!.body.toString()), { alias: 'prod', collection: 'model' })
    assert.equal(received[0]!.headers['webhook-id'], events[0]!.data['delivery_id'])
    assert.equal(received[0]!.headers['x-vendor-delivery-attempt'], '1')
    assert.equal(received[0]!.headers['x-vendor-possible-duplicate'], undefined)
    assert.equal(received[0]!.headers['x-vendor-event-sequence'], '1')
    assert.equal(events[2]!.data['body_bytes'], received[0]!.body.length)
  })

  it('sends whole numbers of metadata in all their digits', async () => {
    const payload = '{"id": ${artifact_metadata.id}, "in": "${artifact_metadata.in}"}'
    const { received } = await given(answers(200))
    await log.append('automation-b', automationCreated('b', 'w', { payload }))
    await log.start()
    const metadata = parseJson('{"id": 1700000000000000123, "in": [-9007199254740993]}')
    const place = aliasAdded('prod').data
    const version = {
      artifact_id: 'a0',
      metadata,
      type: 'model',
      digest: 'd',
      files: null,
      created_at: '2026-01-01T00:00:00.000000Z',
    }
    await log.append(
      COLLECTION,
      { type: 'VersionCreated', data: { ...place, ...version } },
      aliasAdded('prod'),
    )
    await ended(2)
    const bodies = received.map(({ body }) => body.toString())
    assert.ok(bodies.includes('{"id": 1700000000000000123, "in": "[-9007199254740993]"}'), String(bodies))
  })

  it('signs with the secret of now, renders it, and keeps neither', async () => {
    const { received } = await given(answers(200, { echo: 'hush-hush' }, 'you said hush-hush'), {
      ...FAST,
      secret: 'S',
    })
    await log.secrets.put({ team: 'default', name: 'S', version: 1 }, 'hush-hush')
    await log.append('secret-default/S', {
      type: 'SecretStored',
      data: { team: 'default', name: 'S', version: 1, request: null },
    })
    await log.append(
      'automation-b',
      automationCreated('b', 'w', {
        payload: '{"key": "$S"}',
        secret: 'S',
        event: { type: 'ADD_ARTIFACT_TAG' },
      }),
    )
    const dispatcher = await log.start()
    await log.append(COLLECTION, {
      type: 'TagAdded',
      data: { ...aliasAdded('x').data, alias: undefined, tag: 'stable' },
    })
    await ended(1)
    assert.deepEqual(JSON.parse(received[0]!.body.toString()), { key: 'hush-hush' })
    assert.match(received[0]!.headers['x-vendor-signature']!, /^[0-9a-f]{64}$/)
    assert.match(received[0]!.headers['webhook-signature']!, /^v1,/)
    await dispatcher.stop()
    const records = openSqliteAttemptRecords(join(log.directory, 'attempts.db'))
    const id = (await log.deliveryEvents())[0]!.data['delivery_id'] as string
    const [kept] = await records.of(id, [{ attempt: 1, endedAt: 0 }])
    records.close()
    assert.equal(kept?.body, '{"key": "[secret:S]"}')
    assert.equal(kept.responseBody, 'you said [secret]')
    assert.ok(!JSON.stringify([kept, (await log.deliveryEvents()).map(({ data }) => data)]).includes('hush'))
  })

  it('gives up at once what its secret is gone for, and uses no network', async () => {
    const { connections } = await given(answers(200), { ...FAST, secret: 'S' })
    await log.start()
    await log.append(COLLECTION, aliasAdded('prod'))
    await ended(1)
    assert.equal((await log.deliveryEvents()).at(-1)!.data['reason'], 'missing_secret')
    assert.equal(connections(), 0)
  })

  it('tries again until it succeeds, under the same id and the next number', async () => {
    const { received } = await given(inTurn(answers(500), answers(503), answers(200)))
    await log.start()
    await log.append(COLLECTION, aliasAdded('prod'))
    await ended(1)
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
    assert.deepEqual(
      received.map(({ headers }) => headers['x-vendor-delivery-attempt']),
      ['1', '2', '3'],
    )
  })

  it('says after a time-out that it may be there already', async () => {
    const { received } = await given(inTurn(hangs, answers(200)), { ...FAST, timeout_s: 1 })
    await log.start()
    await log.append(COLLECTION, aliasAdded('prod'))
    await ended(1)
    assert.deepEqual(
      received.slice(0, 2).map(({ headers }) => headers['x-vendor-possible-duplicate']),
      [undefined, 'true'],
    )
  })

  it('gives up when the waits are used up', async () => {
    await given(answers(500))
    await log.start()
    await log.append(COLLECTION, aliasAdded('prod'))
    await ended(1)
    assert.equal((await log.deliveryEvents()).at(-1)!.data['reason'], 'exhausted')
  })

  it('waits as long as the receiver asks, with everything for it', async () => {
    const answer = inTurn(answers(429, { 'retry-after': '1' }), answers(200))
    const at: number[] = []
    await given((socket, received) => {
      at.push(Date.now())
      answer(socket, received)
    })
    await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await hasWritten('AttemptFinished')
    await log.append(COLLECTION, aliasAdded('two'))
    await ended(2)
    assert.equal(at.length, 3)
    assert.ok(at[1]! - at[0]! >= 990)
  })

  it('disables the webhook of a receiver that is gone, holds what comes, and sends it once enabled', async () => {
    const gone = await given(inTurn(answers(410), answers(200)))
    await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await until(async () => {
      const types: string[] = []
      for await (const { type } of log.eventStore.readStream('webhook-w')) types.push(type)
      return types.includes('WebhookDisabled')
    })
    await log.append(COLLECTION, aliasAdded('two'), aliasAdded('three'))
    await until(
      async () =>
        typesOf(await log.deliveryEvents()).filter((type) => type === 'DeliveryScheduled').length === 3,
    )
    assert.equal(gone.received.length, 1)
    await log.append('webhook-w', { type: 'WebhookEnabled', data: { id: 'w', team: 'default' } })
    await ended(3)
    assert.equal(gone.received.length, 3)
  })

  it('cancels what waits for a webhook that is deleted', async () => {
    await given(answers(500), { retry_waits_s: [3600] })
    await log.start()
    await log.append(COLLECTION, aliasAdded('one'), aliasAdded('two'))
    await until(
      async () =>
        typesOf(await log.deliveryEvents()).filter((type) => type === 'AttemptFinished').length === 2,
    )
    await log.append('webhook-w', { type: 'WebhookDeleted', data: { id: 'w', team: 'default' } })
    await until(
      async () =>
        typesOf(await log.deliveryEvents()).filter((type) => type === 'DeliveryCanceled').length === 2,
    )
  })

  it('tells of its own failures, but not without end', async () => {
    await given(answers(500), { retry_waits_s: [] })
    await log.append(
      'automation-dead',
      automationCreated('dead', 'w', {
        payload: '{"delivery": "${delivery_id}"}',
        scope: { type: 'team', entity: 'default' },
        event: { type: 'DELIVERY_DEAD' },
      }),
    )
    await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await hasWritten('DeliverySuppressed')
    const depths = (await log.deliveryEvents())
      .filter(({ type }) => type === 'DeliveryScheduled')
      .map(({ data }) => data['depth'])
    assert.deepEqual(depths, [0, 1, 2, 3])
  })

  it('sends again what somebody resends', async () => {
    const { received } = await given(answers(200))
    await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await ended(1)
    const id = (await log.deliveryEvents())[0]!.data['delivery_id'] as string
    await log.append(`delivery-${id}`, {
      type: 'DeliveryResent',
      data: { delivery_id: id, team: 'default', due_at: '2026-01-01T00:00:00.000000Z' },
    })
    await ended(2)
    assert.equal(received[1]!.headers['x-vendor-delivery-attempt'], '2')
    assert.equal(received[1]!.headers['x-vendor-possible-duplicate'], 'true')
  })

  it('schedules nothing again when its state is deleted, and knows the same waits', async () => {
    const { received } = await given(inTurn(answers(200), answers(200), answers(500)), {
      retry_waits_s: [3600],
    })
    const first = await log.start()
    await log.append(COLLECTION, aliasAdded('one'), aliasAdded('two'))
    await ended(2)
    await log.append(COLLECTION, aliasAdded('three'))
    await until(() => received.length === 3)
    await first.stop()
    const before = await log.deliveryEvents()
    await rm(join(log.directory, 'dispatcher.db'))
    const second = await log.start()
    await second.caughtUp
    await log.append(COLLECTION, aliasAdded('four'))
    await until(() => received.length === 4)
    await second.stop()
    const added = (await log.deliveryEvents()).slice(before.length)
    assert.deepEqual(typesOf(added), ['DeliveryScheduled', 'AttemptStarted', 'AttemptFinished'])
    assert.equal(added[0]!.data['sequence'], 4)
  })

  it('never sends a message twice when two dispatchers follow one log', async () => {
    const { received } = await given(answers(200))
    await log.start({ name: 'one', isAlone: false })
    await log.start({ name: 'two', isAlone: false })
    const aliases = Array.from({ length: 200 }, (_, index) => aliasAdded(`v-${index}`))
    await log.append(COLLECTION, ...aliases)
    await ended(200)
    assert.equal(received.length, 200)
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 200)
  })

  it('says of attempts that a stop cuts off that nobody knows, and takes them up again with a mark', async () => {
    const { received } = await given(hangs, { retry_waits_s: [0.05], timeout_s: 30 })
    const first = await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await until(() => received.length === 1)
    await first.stop(50)
    assert.deepEqual(typesOf(await log.deliveryEvents()).at(-1), 'AttemptOutcomeUnknown')
    receivers[0]!.behave(answers(200))
    await log.start()
    await ended(1)
    assert.equal(received[1]!.headers['x-vendor-possible-duplicate'], 'true')
  })

  it('keeps the wait after an attempt of unknown outcome when it starts again', async () => {
    await given(hangs, { retry_waits_s: [3600], timeout_s: 30 })
    const first = await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await until(() => receivers[0]!.received.length === 1)
    await first.stop(50)
    receivers[0]!.behave(answers(200))
    const second = await log.start()
    await second.caughtUp
    await log.append(COLLECTION, aliasAdded('two'))
    await ended(1)
    await second.stop()
    assert.deepEqual(typesOf(await log.deliveryEvents()), [
      'DeliveryScheduled',
      'AttemptStarted',
      'AttemptOutcomeUnknown',
      'DeliveryScheduled',
      'AttemptStarted',
      'AttemptFinished',
    ])
  })

  it('judges metrics in their windows, once a run', async () => {
    const { received } = await given(answers(200))
    await log.append(
      'automation-m',
      automationCreated('m', 'w', {
        payload: '{"value": ${metric_value}, "run": "${run_name}"}',
        event: {
          type: 'RUN_METRIC',
          metric: 'loss',
          aggregation: 'AVERAGE',
          window: 3,
          comparison: '$lt',
          threshold: 2,
        },
      }),
    )
    const run = { project_id: 'default/p', run_id: 'r', name: 'first', user: 'ada' }
    const logged = (loss: number) => ({
      type: 'MetricsLogged',
      data: { ...run, metrics: { loss }, step: null },
    })
    await log.start()
    await log.append('run-default/p/r', {
      type: 'RunStarted',
      data: { ...run, started_at: '2026-01-01T00:00:00.000000Z' },
    })
    for (const loss of [3, 3, 2.5, 2, 1, 1]) await log.append('run-default/p/r', logged(loss))
    await ended(1)
    assert.equal(received.length, 1)
    assert.deepEqual(JSON.parse(received[0]!.body.toString()), { value: 5.5 / 3, run: 'first' })
  })

  it('stops asking a receiver that fails again and again, and holds what comes for it', async () => {
    const { received } = await given(answers(500), { retry_waits_s: [3600] })
    await log.start()
    for (let index = 0; index < 30; index += 1) await log.append(COLLECTION, aliasAdded(`v-${index}`))
    await until(async () => {
      const types = typesOf(await log.deliveryEvents())
      const begun = types.filter((type) => type === 'AttemptStarted').length
      return (
        types.filter((type) => type === 'DeliveryScheduled').length === 30 &&
        types.filter((type) => type === 'AttemptFinished').length === begun
      )
    })
    assert.ok(received.length >= 10 && received.length < 20, `${received.length}`)
  })

  it('serves the webhooks of others while hundreds of one team hang', async () => {
    const hanging = await receiver(hangs, '0.0.0.0')
    for (let index = 0; index < 300; index += 1) {
      const id = `h-${index}`
      // Every loopback address is a host of its own.
      const url = `http://127.1.${Math.floor(index / 250)}.${(index % 250) + 1}:${hanging.port}/`
      await log.append(`webhook-${id}`, webhookCreated(id, url, { timeout_s: 30 }))
      await log.append(`automation-${id}`, automationCreated(id, id))
    }
    const fast = await receiver(answers(200))
    const own = { team: 'others' }
    await log.append('webhook-f', webhookCreated('f', fast.url, own))
    const scope = { type: 'project', entity: 'others', project: 'p' }
    await log.append('automation-f', automationCreated('f', 'f', { ...own, scope }))
    const dispatcher = await log.start()
    await log.append(COLLECTION, aliasAdded('one'), aliasAdded('two'))
    for (let index = 0; index < 100; index += 1)
      await log.append(
        'artifact-others/p/model',
        aliasAdded(`v-${index}`, { ...own, project_id: 'others/p' }),
      )
    await until(() => fast.received.length === 100)
    assert.ok(hanging.received.length > 0 && hanging.received.length <= 64)
    await dispatcher.stop(50)
  })
})
