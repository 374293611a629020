import assert from 'node:assert/strict'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { answers, inTurn } from '../../../support/receivers/behaviours.js'
import { until } from '../../../support/until.js'
import { accepted } from '../../calls/given.js'
import { givenAutomation, startSending, type Sending } from './given.js'

const NO_RETRIES = { retry_waits_s: [], timeout_s: 30 }

describe('actions on many deliveries', () => {
  let sending: Sending
  before(async () => void (sending = await startSending()))
  after(() => sending.stop())

  /** Three dead deliveries; later messages succeed. */
  const givenDead = async () => {
    const given = await givenAutomation(
      sending,
      inTurn(answers(500), answers(500), answers(500), answers(200)),
      NO_RETRIES,
    )
    for (const alias of ['one', 'two', 'three']) await given.aliasAdded(alias)
    await until(async () => (await given.listed('state=dead')).length === 3)
    const act = (body: object, options = {}) =>
      given.send('POST', '/api/deliveries/actions', { team: given.team, ...body }, options)
    return { ...given, act, ids: (await given.listed()).map(({ id }) => id) }
  }
  const nothingLeft = (done: number, not_possible: JsonObject = {}) => ({ done, not_possible, next: null })

  it('redrive a selection by ids, once for each delivery', async () => {
    const { act, ids, listed, received } = await givenDead()
    assert.deepEqual(
      accepted(await act({ action: 'redrive', ids: [ids[0], ids[1], ids[0]] })),
      nothingLeft(2),
    )
    await until(async () => (await listed('state=succeeded')).length === 2)
    assert.deepEqual(
      accepted(await act({ action: 'redrive', ids: [...ids, 'dlv_unknown'] })),
      nothingLeft(1, { not_dead: 2, not_found: 1 }),
    )
    await until(async () => (await listed('state=succeeded')).length === 3)
    assert.equal(received.length, 6)
  })

  it('resend what a filter selects, in steps, and are seen in the list at once', async () => {
    const { act, listed } = await givenDead()
    const first = accepted(await act({ action: 'resend', filter: { state: ['dead'] }, limit: 2 }))
    assert.equal(first['done'], 2)
    assert.equal((await listed('state=dead')).length, 1)
    const more = { action: 'resend', filter: { state: ['dead'] }, after: first['next'] }
    assert.deepEqual(accepted(await act(more)), nothingLeft(1))
    await until(async () => (await listed('state=succeeded')).length === 3)
    assert.deepEqual(accepted(await act({ action: 'redrive', filter: {} })), nothingLeft(0))
  })

  it('resend none twice for one Idempotency-Key', async () => {
    const { act, ids, listed, received } = await givenDead()
    const options = { headers: { 'idempotency-key': 'once' } }
    for (let time = 0; time < 2; time += 1)
      assert.deepEqual(accepted(await act({ action: 'resend', ids }, options)), nothingLeft(3))
    await until(async () => (await listed('state=succeeded')).length === 3)
    assert.equal(received.length, 6)
  })

  it('cancel the waiting messages of a time range', async () => {
    const given = await givenAutomation(sending, answers(500), { retry_waits_s: [3600], timeout_s: 30 })
    for (const alias of ['one', 'two']) await given.aliasAdded(alias)
    await until(async () => (await given.listed('state=retrying')).length === 2)
    const cancel = (filter: object) =>
      given.send('POST', '/api/deliveries/actions', { team: given.team, action: 'cancel', filter })
    assert.deepEqual(accepted(await cancel({ to: '2020-01-01T00:00:00Z' })), nothingLeft(0))
    assert.deepEqual(accepted(await cancel({ from: '2020-01-01T00:00:00Z' })), nothingLeft(2))
    assert.equal((await given.listed('state=canceled')).length, 2)
    const ids = (await given.listed()).map(({ id }) => id)
    const again = await given.send('POST', '/api/deliveries/actions', {
      team: given.team,
      action: 'cancel',
      ids,
    })
    assert.deepEqual(accepted(again), nothingLeft(2))
  })

  it('are refused by field, and do nothing for those who may not', async () => {
    const { act, ids, keys, stranger, listed } = await givenDead()
    for (const [body, field] of [
      [{ action: 'resend' }, 'filter'],
      [{ action: 'resend', ids, filter: {} }, 'filter'],
      [{ action: 'resend', ids: [] }, 'ids'],
      [{ action: 'resend', ids: Array.from({ length: 1001 }, (_, n) => `dlv_${n}`) }, 'ids'],
      [{ action: 'burn', ids }, 'action'],
      [{ action: 'resend', filter: { state: ['gone'] } }, 'filter'],
      [{ action: 'resend', filter: {}, limit: 10_001 }, 'limit'],
      [{ action: 'resend', filter: {}, after: 'x' }, 'after'],
    ] as const) {
      const refused = await act(body)
      assert.equal(refused.status, 422, JSON.stringify(body))
      assert.equal(refused.json<{ detail: { loc: string[] }[] }>().detail[0]!.loc[1], field)
    }
    const asMember = await act({ action: 'resend', ids }, { key: keys.member })
    assert.deepEqual(accepted(asMember), nothingLeft(0, { forbidden: 3 }))
    assert.equal((await act({ action: 'resend', ids }, { key: stranger })).status, 404)
    assert.equal((await listed('state=dead')).length, 3)
  })

  it('do not find deliveries of another team', async () => {
    const [mine, theirs] = [await givenDead(), await givenDead()]
    assert.deepEqual(
      accepted(await mine.act({ action: 'resend', ids: theirs.ids })),
      nothingLeft(0, { not_found: 3 }),
    )
    assert.equal((await theirs.listed('state=dead')).length, 3)
  })

  it('count deliveries whose webhook was deleted', async () => {
    const { act, ids, send, webhooks, webhook } = await givenDead()
    accepted(await send('DELETE', `${webhooks}/${webhook}?force=true`))
    assert.deepEqual(accepted(await act({ action: 'redrive', ids })), nothingLeft(0, { webhook_deleted: 3 }))
  })
})
