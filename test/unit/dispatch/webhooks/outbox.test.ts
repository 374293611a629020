import assert from 'node:assert/strict'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { systemIds } from '../../../../src/adapters/system/system.js'
import { openOutbox } from '../../../../src/dispatch/webhooks/outbox.js'
import type { ScheduleEvent } from '../../../../src/dispatch/webhooks/schedule-event.js'
import {
  ConcurrencyConflict,
  EventTooLarge,
  StoreUnavailable,
} from '../../../../src/kernel/ports/event-store-errors.js'
import type { Appended } from '../../../../src/kernel/ports/event-store.js'
import { until } from '../../../support/until.js'
import { aScheduled } from '../../domain/webhooks/deliveries/arbitrary.js'

const scheduling = (n: number, id = `dlv_${n}`): ScheduleEvent => ({
  type: 'DeliveryScheduled',
  data: aScheduled({ delivery_id: id, source: { ...aScheduled().source, position: String(1000 + n) } }),
})
const schedulings = (count: number) => Array.from({ length: count }, (_, n) => scheduling(n))

describe('the outbox', () => {
  const state = openSqliteDispatcherState(':memory:')
  let appends: { readonly id: string; readonly answer: (outcome?: Error) => void }[]
  let stopping: AbortController
  let failures: unknown[]
  let logged: string[]
  beforeEach(() => {
    state.clear()
    appends = []
    failures = []
    logged = []
    stopping = new AbortController()
  })
  afterEach(() => stopping.abort())
  after(() => state.close())

  const opened = (more: { readonly repeatAfterMs?: number } = {}) =>
    openOutbox(state, {
      ...more,
      eventStore: {
        append: (stream) =>
          new Promise<Appended>((resolve, reject) => {
            const answer = (outcome?: Error) =>
              outcome === undefined ? resolve({ revision: 0n, position: 1n }) : reject(outcome)
            appends.push({ id: stream.slice('delivery-'.length), answer })
          }),
      },
      ids: systemIds,
      log: { error: (event) => void logged.push(event) },
      onFailure: (error) => failures.push(error),
      signal: stopping.signal,
    })
  const stored = () => state.some('outbox', -1).length
  /** Answers the appends in progress; returns their ids. */
  const answerAll = async (outcome?: Error): Promise<readonly string[]> => {
    const answered = appends.splice(0)
    for (const { answer } of answered) answer(outcome)
    await new Promise((resolve) => setImmediate(resolve))
    return answered.map(({ id }) => id)
  }

  it('appends nothing before it is open, then all in the order of the log, at most 64 at once', async () => {
    const outbox = opened()
    for (const one of schedulings(100)) outbox.put([one])
    assert.equal(appends.length, 0)
    outbox.open()
    assert.equal(appends.length, 64)
    const ids = [...(await answerAll()), ...(await answerAll())]
    assert.deepEqual(
      ids,
      Array.from({ length: 100 }, (_, n) => `dlv_${n}`),
    )
  })

  it('appends all deliveries of one event, whatever their ids', async () => {
    const outbox = opened()
    outbox.open()
    outbox.put(['c', 'a', 'b'].map((id) => scheduling(1, id)))
    outbox.put(['z', 'y'].map((id) => scheduling(2, id)))
    assert.deepEqual(await answerAll(), ['a', 'b', 'c', 'y', 'z'])
    assert.deepEqual(await answerAll(), [])
  })

  it('keeps each one in the state until the log has it, and appends it after a restart', async () => {
    const first = opened()
    first.open()
    first.put([scheduling(1)])
    first.put([scheduling(2)])
    await answerAll()
    first.remove(scheduling(1).data)
    assert.equal(stored(), 1)
    opened().open()
    assert.deepEqual(await answerAll(new ConcurrencyConflict('s', 'none', 0n)), ['dlv_2'])
    assert.deepEqual(failures, [])
  })

  it('tries until the log is back', async () => {
    const outbox = opened()
    outbox.open()
    outbox.put([scheduling(1)])
    await answerAll(new StoreUnavailable('the log is away'))
    await until(() => appends.length === 1)
    await answerAll()
    assert.deepEqual(failures, [])
    assert.equal(stored(), 1)
  })

  it('appends again what the log has not, although it reported a conflict', async () => {
    const outbox = opened({ repeatAfterMs: 1 })
    outbox.open()
    outbox.put([scheduling(1)])
    outbox.put([scheduling(2)])
    assert.equal(appends.length, 2)
    const answered = answerAll(new ConcurrencyConflict('s', 'none', 0n))
    outbox.remove(scheduling(1).data)
    await answered
    for (const outcome of [new ConcurrencyConflict('s', 'none', 0n), undefined]) {
      await until(() => appends.length > 0)
      assert.deepEqual(await answerAll(outcome), ['dlv_2'])
    }
  })

  it('logs and drops one that is too large for the log', async () => {
    const outbox = opened()
    outbox.open()
    outbox.put([scheduling(1)])
    await answerAll(new EventTooLarge('too large'))
    assert.equal(stored(), 0)
    assert.deepEqual(logged, ['dispatcher.schedule_failed'])
  })

  it('reports any other error, and appends nothing after the stop', async () => {
    const outbox = opened()
    outbox.open()
    outbox.put(schedulings(2))
    await answerAll(new Error('broken'))
    assert.equal(failures.length, 2)
    stopping.abort()
    outbox.put([scheduling(3)])
    assert.equal(appends.length, 0)
  })
})
