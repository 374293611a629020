import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import type { Claimed } from '../../../../src/dispatch/webhooks/attempt.js'
import { openSender } from '../../../../src/dispatch/webhooks/sending.js'
import { instantAt } from '../../../../src/domain/webhooks/deliveries/times.js'
import { until } from '../../../support/until.js'
import { aKnownWebhook, answered, aWaitingDelivery } from './waiting-deliveries.js'

const HOUR = 3600 * 1000
const START = Date.parse('2026-01-01T00:00:00Z')
const MOST_IN_FLIGHT = 16

const webhook = aKnownWebhook({ id: 'w' })
const waiting = (dueAt: number) => aWaitingDelivery('w', instantAt(dueAt))

describe('what waits for an endpoint that is back', () => {
  /** 10,000 that wait for an hour, behind ten that are due. */
  const waves = (fails: (attempt: number) => boolean, wait: number) => {
    const state = openSqliteDispatcherState(':memory:')
    for (let n = 0; n < 10_010; n += 1)
      state.putDelivery({
        id: `d-${n}`,
        delivery: waiting(n < 10 ? START : START + HOUR),
        revision: 0n,
        order: BigInt(n),
      })
    let now = START
    const begun: Claimed[] = []
    let inFlight = 0
    let most = 0
    const sender = openSender({
      state,
      directory: { get: () => webhook },
      clock: { now: () => new Date(now) },
      attempt: async (claimed) => {
        begun.push(claimed)
        inFlight += 1
        most = Math.max(most, inFlight)
        const isFailure = fails(begun.length)
        await setImmediate()
        inFlight -= 1
        if (isFailure)
          state.putDelivery({ ...claimed, order: orderOf(claimed), delivery: waiting(now + wait) })
        else state.removeDelivery(claimed.id)
        return answered(!isFailure)
      },
      onStateFailed: (error) => {
        throw error
      },
      cancelAll: () => undefined,
      onAnswered: () => undefined,
    })
    return {
      sender,
      begun,
      most: () => most,
      later: (millis: number) => {
        now += millis
        sender.wake('w')
      },
    }
  }
  const orderOf = ({ id }: Claimed) => BigInt(id.slice('d-'.length))

  it('goes out oldest first after the probe, and never more at once than the endpoint bears', async () => {
    const { sender, begun, most, later } = waves((attempt) => attempt <= 10, 5000)
    sender.start()
    await until(() => begun.length === 10 && sender.breakers().open === 1)
    later(31_000)
    await until(() => begun.length === 10 + 10_010 && sender.inFlight() === 0)
    assert.deepEqual(
      begun.slice(10).map(({ id }) => id),
      ['d-9', ...Array.from({ length: 10_010 }, (_, n) => `d-${n}`).filter((id) => id !== 'd-9')],
    )
    assert.ok(most() <= MOST_IN_FLIGHT)
    await sender.stop(0)
  })

  it('is not hurried again where it fails again', async () => {
    const { sender, begun, later } = waves((attempt) => attempt <= 10 || attempt === 500, 5000)
    sender.start()
    await until(() => sender.breakers().open === 1)
    later(31_000)
    await until(() => begun.length === 10 + 10_010 && sender.inFlight() === 0)
    later(4000)
    for (let turn = 0; turn < 10; turn += 1) await setImmediate()
    assert.equal(begun.length, 10 + 10_010)
    later(1000)
    await until(() => begun.length === 10 + 10_011)
    assert.equal(begun.at(-1)!.id, begun[499]!.id)
    await sender.stop(0)
  })
})
