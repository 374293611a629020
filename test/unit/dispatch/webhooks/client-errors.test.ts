import assert from 'node:assert/strict'
import {
  aliasAdded,
  automationCreated,
  COLLECTION,
  startDispatching,
  type Dispatching,
} from '../../../support/dispatching.js'
import { until } from '../../../support/until.js'
import { answers, dependingOn, inTurn } from '../../../support/receivers/behaviours.js'
import { startReceiver, type Behaviour, type Receiver } from '../../../support/receivers/receiver.js'

const SLOW = { retry_waits_s: [3600] }

describe('a message that is answered 422', () => {
  let log: Dispatching
  let receiver: Receiver
  beforeEach(async () => {
    log = await startDispatching()
  })
  afterEach(async () => {
    await log.stop()
    await receiver.stop()
  })
  const given = async (behaviour: Behaviour) => {
    receiver = await startReceiver(behaviour)
    await log.addWebhook(receiver.url, SLOW)
  }

  it('does not delay other messages of the webhook, not even after 30 of them', async () => {
    await given(dependingOn(({ body }) => answers(body.includes('"bad"') ? 422 : 200)))
    await log.append(
      'automation-b',
      automationCreated('b', 'w', { payload: '{"bad": "${tag}"}', event: { type: 'ADD_ARTIFACT_TAG' } }),
    )
    await log.start()
    for (let index = 0; index < 30; index += 1)
      await log.append(COLLECTION, {
        type: 'TagAdded',
        data: { ...aliasAdded('x').data, alias: undefined, tag: `v-${index}` },
      })
    await until(() => receiver.received.length === 30, 5000)
    await log.append(COLLECTION, aliasAdded('prod'))
    await until(() => receiver.received.length === 31, 5000)
    assert.deepEqual(JSON.parse(receiver.received[30]!.body.toString()), {
      alias: 'prod',
      collection: 'model',
    })
  })

  it('delays no other message when the answer has a Retry-After', async () => {
    await given(inTurn(answers(422, { 'retry-after': '3600' }), answers(200)))
    await log.start()
    await log.append(COLLECTION, aliasAdded('one'))
    await until(async () => (await log.deliveryEvents()).some(({ type }) => type === 'AttemptFinished'))
    const first = (await log.deliveryEvents()).at(-1)!
    assert.ok(Date.parse(first.data['next_at'] as string) - first.recordedAt.getTime() > 3_500_000)
    await log.append(COLLECTION, aliasAdded('two'))
    await until(() => receiver.received.length === 2, 5000)
    assert.deepEqual(JSON.parse(receiver.received[1]!.body.toString()), { alias: 'two', collection: 'model' })
  })
})
