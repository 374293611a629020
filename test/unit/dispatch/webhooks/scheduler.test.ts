import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import type { AnswerRead } from '../../../../src/dispatch/webhooks/answers.js'
import type { AttemptEnd, Claimed } from '../../../../src/dispatch/webhooks/attempt.js'
import { afterAttempt, hasRecovered, type Endpoint } from '../../../../src/dispatch/webhooks/endpoint.js'
import { openScheduler } from '../../../../src/dispatch/webhooks/scheduler.js'
import type { WaitingDelivery } from '../../../../src/domain/webhooks/deliveries/state.js'
import { instantAt } from '../../../../src/domain/webhooks/deliveries/times.js'
import { until } from '../../../support/until.js'
import { anEndpoint, answered, aWaitingDelivery } from './waiting-deliveries.js'

const HOUR = 3600 * 1000
const START = Date.parse('2026-01-01T00:00:00Z')
const MAX_IN_FLIGHT = 16

const state = openSqliteDispatcherState(':memory:')
const throwing = (error: unknown) => {
  throw error
}
const put = (id: string, webhook: string, order: number, delivery: Partial<WaitingDelivery> = {}) =>
  state.putDelivery({
    id,
    delivery: { ...aWaitingDelivery(webhook, instantAt(START)), ...delivery },
    revision: 0n,
    order: BigInt(order),
  })

describe('the waiting messages of an endpoint that works again', () => {
  beforeEach(() => state.clear())

  /** 10,000 messages that wait for an hour, after ten that are due. */
  const waves = (fails: (attempt: number) => boolean, waitMs: number) => {
    for (let n = 0; n < 10_010; n += 1)
      put(`d-${n}`, 'w', n, { dueAt: instantAt(n < 10 ? START : START + HOUR) })
    let now = START
    let endpoint = anEndpoint({ id: 'w' })
    const started: Claimed[] = []
    let inFlight = 0
    let most = 0
    const scheduler = openScheduler({
      state,
      endpoint: () => endpoint,
      clock: { now: () => new Date(now) },
      attempt: async (claimed) => {
        started.push(claimed)
        const startedAt = now
        most = Math.max(most, (inFlight += 1))
        const receiverUp = !fails(started.length)
        await setImmediate()
        inFlight -= 1
        if (receiverUp) state.removeDelivery(claimed.id)
        else put(claimed.id, 'w', Number(claimed.id.slice(2)), { dueAt: instantAt(now + waitMs) })
        const before = endpoint
        const observed = { webhookRevision: 0, startedAt, endedAt: now, receiverUp }
        endpoint = afterAttempt(before, { ...observed, timedOut: false, error: '', throttledUntil: null })
        if (hasRecovered(before, endpoint)) scheduler.recover('w')
        return answered(receiverUp)
      },
      applied: () => Promise.resolve(),
      onFailure: throwing,
      cancelAll: () => undefined,
    })
    return {
      scheduler,
      started,
      most: () => most,
      isOpen: () => endpoint.breaker.phase === 'open',
      later: (millis: number) => {
        now += millis
        scheduler.wake('w')
      },
    }
  }

  it('are sent oldest first after the probe, within the concurrency limit', async () => {
    const { scheduler, started, most, isOpen, later } = waves((attempt) => attempt <= 10, 5000)
    scheduler.start()
    await until(() => started.length === 10 && isOpen() && scheduler.running() === 0)
    later(31_000)
    await until(() => started.length === 10 + 10_010 && scheduler.running() === 0)
    assert.deepEqual(
      started.slice(10).map(({ id }) => id),
      ['d-9', ...Array.from({ length: 10_010 }, (_, n) => `d-${n}`).filter((id) => id !== 'd-9')],
    )
    assert.ok(most() <= MAX_IN_FLIGHT)
    await scheduler.stop()
  })

  it('wait for their own delay if they fail again', async () => {
    const { scheduler, started, isOpen, later } = waves((attempt) => attempt <= 10 || attempt === 500, 5000)
    scheduler.start()
    await until(() => started.length === 10 && isOpen() && scheduler.running() === 0)
    later(31_000)
    await until(() => started.length === 10 + 10_010 && scheduler.running() === 0)
    later(4000)
    for (let turn = 0; turn < 10; turn += 1) await setImmediate()
    assert.equal(started.length, 10 + 10_010)
    later(1000)
    await until(() => started.length === 10 + 10_011)
    assert.equal(started.at(-1)!.id, started[499]!.id)
    await scheduler.stop()
  })
})

describe('the scheduler', () => {
  beforeEach(() => state.clear())

  /** Attempts that do not end before they are told to. */
  const scheduling = (endpoints: readonly Endpoint[]) => {
    const started: {
      readonly id: string
      readonly onAnswer: (answer: AnswerRead) => void
      readonly end: (end: AttemptEnd) => void
    }[] = []
    const scheduler = openScheduler({
      state,
      endpoint: (id) => endpoints.find((endpoint) => endpoint.id === id),
      clock: { now: () => new Date(START) },
      attempt: ({ id }, _endpoint, onAnswer) =>
        new Promise((resolve) => {
          const end = (ended: AttemptEnd) => {
            state.removeDelivery(id)
            resolve(ended)
          }
          started.push({ id, onAnswer, end })
        }),
      applied: () => Promise.resolve(),
      onFailure: throwing,
      cancelAll: () => undefined,
    })
    const endAll = async () => {
      for (const { end } of started) end(answered(true))
      await scheduler.stop()
    }
    return { scheduler, started, endAll, ids: () => started.map(({ id }) => id) }
  }

  it('takes turns between teams, and between the webhooks of a team', async () => {
    const { scheduler, ids, endAll } = scheduling([
      anEndpoint({ id: 'a1', team: 'a' }),
      anEndpoint({ id: 'a2', team: 'a' }),
      anEndpoint({ id: 'b1', team: 'b' }),
    ])
    for (let n = 0; n < 4; n += 1)
      for (const webhook of ['a1', 'a2', 'b1']) put(`${webhook}-${n}`, webhook, n)
    scheduler.start()
    await until(() => ids().length === 12)
    assert.deepEqual(ids().slice(0, 6), ['a1-0', 'b1-0', 'a2-0', 'b1-1', 'a1-1', 'b1-2'])
    await endAll()
  })

  it('sends three new messages for each retry while there are both', async () => {
    const { scheduler, ids, endAll } = scheduling([anEndpoint({ id: 'w', successes: 12 })])
    for (let n = 0; n < 8; n += 1) {
      put(`retry-${n}`, 'w', n)
      put(`new-${n}`, 'w', 100 + n, { phase: 'pending' })
    }
    scheduler.start()
    await until(() => ids().length === 16)
    assert.deepEqual(
      ids()
        .slice(0, 8)
        .map((id) => id.slice(0, 3)),
      ['new', 'new', 'new', 'ret', 'new', 'new', 'new', 'ret'],
    )
    await endAll()
  })

  it('starts a message of another team at once while hundreds of webhooks hang', async () => {
    const hanging = Array.from({ length: 300 }, (_, n) =>
      anEndpoint({ id: `h-${n}`, team: `t-${n % 3}`, hangs: true, url: `http://127.0.1.${n % 250}/` }),
    )
    const { scheduler, ids, endAll } = scheduling([...hanging, anEndpoint({ id: 'w', team: 'healthy' })])
    for (const { id } of hanging) for (let n = 0; n < 3; n += 1) put(`${id}-${n}`, id, n)
    scheduler.start()
    await until(() => ids().length === 64)
    put('new', 'w', 1000, { phase: 'pending' })
    scheduler.wake('w')
    await setImmediate()
    await setImmediate()
    assert.equal(ids().at(-1), 'new')
    assert.equal(ids().length, 65)
    await endAll()
  })

  it('starts the next message after a success without waiting for the log, and after a failure once the log has it', async () => {
    const { scheduler, started, ids, endAll } = scheduling([anEndpoint({ id: 'w' })])
    for (let n = 0; n < 10; n += 1) put(`d-${n}`, 'w', n)
    scheduler.start()
    await until(() => ids().length === 4)
    const [success, failure] = [answered(true), answered(false)]
    assert.ok(success.kind === 'answered' && failure.kind === 'answered')
    started[0]!.onAnswer(success.answer)
    await until(() => ids().length === 5)
    started[1]!.onAnswer(failure.answer)
    await setImmediate()
    await setImmediate()
    assert.equal(ids().length, 5)
    started[1]!.end(failure)
    await until(() => ids().length === 6)
    await endAll()
  })

  it('attempts a message again that another dispatcher or the log kept it from', async () => {
    const { scheduler, started, endAll } = scheduling([anEndpoint({ id: 'w' })])
    put('d', 'w', 1)
    scheduler.start()
    await until(() => started.length === 1)
    put('d', 'w', 1)
    state.claimDue('w', 'retry', START)
    started[0]!.end({ kind: 'postponed' })
    put('d', 'w', 1)
    await until(() => started.length === 2)
    await endAll()
  })
})
