import assert from 'node:assert/strict'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { systemIds } from '../../../../src/adapters/system/system.js'
import { openCompany, type Company } from '../../../../src/dispatch/webhooks/company.js'
import { openOutbox } from '../../../../src/dispatch/webhooks/outbox.js'
import type { Scheduling } from '../../../../src/dispatch/webhooks/scheduling.js'
import { ConcurrencyConflict, StoreUnavailable } from '../../../../src/kernel/ports/event-store-errors.js'
import type { Appended } from '../../../../src/kernel/ports/event-store.js'
import { aScheduled } from '../../domain/webhooks/deliveries/arbitrary.js'
import { until } from '../../../support/until.js'

interface Asked {
  readonly id: string
  readonly answer: (outcome?: Error) => void
}

/** An outbox whose log answers when it is told to. */
const opened = (seenWithinMs?: number, company: Company = openCompany()) => {
  const asked: Asked[] = []
  const state = openSqliteDispatcherState(':memory:')
  const append = (stream: string) =>
    new Promise<Appended>((resolve, reject) => {
      const answer = (outcome?: Error) =>
        outcome === undefined ? resolve({ revision: 0n, position: 1n }) : reject(outcome)
      asked.push({ id: stream.slice('delivery-'.length), answer })
    })
  const outbox = openOutbox(
    state,
    {
      eventStore: { append },
      ids: systemIds,
      log: { error: () => undefined },
      company,
      distrust: (error) => {
        throw error
      },
    },
    seenWithinMs,
  )
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  /** Answers what is being written; the ids of it. */
  const answerAll = async (outcome?: Error): Promise<readonly string[]> => {
    const answered = asked.splice(0)
    for (const { answer } of answered) answer(outcome)
    await settled()
    return answered.map(({ id }) => id)
  }
  return { asked, state, outbox, answerAll }
}

const scheduling = (team: string, n: number): Scheduling => ({
  type: 'DeliveryScheduled',
  data: aScheduled({
    delivery_id: `dlv_${team}_${n}`,
    team,
    source: { ...aScheduled().source, position: String(1000 + n) },
  }),
})
const idsOf = (team: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `dlv_${team}_${from + n}`)

describe('the outbox', () => {
  it('writes much of one team in portions, oldest first, and each once', async () => {
    const { outbox, state, answerAll } = opened()
    outbox.open()
    for (let n = 0; n < 150; n += 1) outbox.put(scheduling('big', n))
    assert.deepEqual(await answerAll(), idsOf('big', 0, 64))
    assert.deepEqual(await answerAll(), idsOf('big', 64, 128))
    assert.deepEqual(await answerAll(), idsOf('big', 128, 150))
    assert.deepEqual(await answerAll(), [])
    for (let n = 0; n < 150; n += 1) outbox.seen(scheduling('big', n).data)
    assert.deepEqual([...state.all('outbox')], [])
  })

  it('lets a team that has little go at once, with few of who has much, all of which follow', async () => {
    const { outbox, asked, answerAll } = opened()
    outbox.open()
    for (let n = 0; n < 80; n += 1) outbox.put(scheduling('big', n))
    outbox.put(scheduling('small', 0))
    assert.equal(asked.at(-1)?.id, 'dlv_small_0')
    await answerAll()
    outbox.put(scheduling('small', 1))
    const next = await answerAll()
    assert.equal(next.at(-1), 'dlv_small_1')
    let written = 64 + next.length - 1
    assert.deepEqual(next.slice(0, -1), idsOf('big', 64, written))
    while (written < 80) {
      await until(() => asked.length !== 0)
      const portion = await answerAll()
      assert.ok(portion.length <= 4)
      assert.deepEqual(portion, idsOf('big', written, (written += portion.length)))
    }
    assert.deepEqual(await answerAll(), [])
  })

  it('lets who has much go on behind a rest when something else is about to be written', async () => {
    const goOn: (() => void)[] = []
    const wait = () => new Promise<void>((resolve) => goOn.push(resolve))
    const { outbox, asked, answerAll } = opened(undefined, { wait, setOff: () => undefined })
    outbox.open()
    for (let n = 0; n < 80; n += 1) outbox.put(scheduling('big', n))
    outbox.put(scheduling('small', 0))
    await new Promise((resolve) => setTimeout(resolve, 3))
    assert.equal((await answerAll()).length, 65)
    assert.deepEqual(await answerAll(), idsOf('big', 64, 68))
    await until(() => goOn.length !== 0)
    assert.deepEqual(asked, [])
    goOn.pop()!()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(await answerAll(), idsOf('big', 68, 72))
  })

  it('takes what the log holds already for written', async () => {
    const { outbox, asked, answerAll } = opened()
    outbox.open()
    outbox.put(scheduling('a', 0))
    await answerAll(new ConcurrencyConflict('delivery', 'none', 0n))
    outbox.put(scheduling('a', 0))
    outbox.flush()
    assert.deepEqual(asked, [])
  })

  it('writes again what the log was said to hold and is not seen to, once it has waited', async () => {
    for (const outcome of [undefined, new ConcurrencyConflict('delivery', 'none', 'none')]) {
      const { outbox, asked, answerAll } = opened(0)
      outbox.open()
      outbox.put(scheduling('a', 0))
      await answerAll(outcome)
      outbox.flush()
      assert.deepEqual(await answerAll(), idsOf('a', 0, 1))
      outbox.seen(scheduling('a', 0).data)
      outbox.flush()
      assert.deepEqual(asked, [])
    }
  })

  it('keeps what could not be written, of every team, until it is flushed', async () => {
    const { outbox, asked, answerAll } = opened()
    for (const team of ['a', 'b', 'c-d', 'c']) for (let n = 0; n < 2; n += 1) outbox.put(scheduling(team, n))
    assert.deepEqual(asked, [])
    outbox.open()
    const ids = ['a', 'b', 'c', 'c-d'].flatMap((team) => idsOf(team, 0, 2)).toSorted()
    assert.deepEqual((await answerAll(new Error('refused'))).toSorted(), ids)
    assert.deepEqual(asked, [])
    outbox.flush()
    assert.deepEqual((await answerAll()).toSorted(), ids)
    outbox.flush()
    assert.deepEqual(asked, [])
  })

  it('tries once more by itself where the log is away for a moment', async () => {
    const { outbox, asked, answerAll } = opened()
    outbox.open()
    outbox.put(scheduling('a', 0))
    await answerAll(new StoreUnavailable('away'))
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepEqual(await answerAll(), idsOf('a', 0, 1))
  })

  it('writes nothing more once the state is taken back, until it is put and opened again', async () => {
    const { outbox, answerAll } = opened()
    outbox.open()
    for (let n = 0; n < 100; n += 1) outbox.put(scheduling('a', n))
    outbox.forget()
    assert.equal((await answerAll()).length, 64)
    assert.deepEqual(await answerAll(), [])
    for (let n = 0; n < 100; n += 1) outbox.put(scheduling('a', n))
    outbox.open()
    assert.deepEqual(await answerAll(), idsOf('a', 64, 100))
  })

  it('has in the state what the log was not seen to hold when it is settled, and nothing else', async () => {
    const { outbox, state, answerAll } = opened()
    for (let n = 0; n < 100; n += 1) outbox.put(scheduling('a', n))
    outbox.seen(scheduling('a', 0).data)
    assert.deepEqual([...state.all('outbox')], [])
    outbox.settle(Infinity)
    assert.equal([...state.all('outbox')].length, 99)
    outbox.put(scheduling('a', 100))
    outbox.open()
    assert.deepEqual(await answerAll(), idsOf('a', 1, 65))
    assert.deepEqual(await answerAll(), idsOf('a', 65, 101))
    for (let n = 1; n <= 100; n += 1) outbox.seen(scheduling('a', n).data)
    assert.deepEqual([...state.all('outbox')], [])
  })

  it('keeps few in memory, however many an event leads to, and whoever cannot be written to', async () => {
    const { state, outbox } = opened()
    for (let event = 0; event < 20; event += 1) {
      for (let n = 0; n < 400; n += 1) outbox.put(scheduling('a', event * 400 + n))
      await outbox.pause()
    }
    const kept = [...state.all('outbox')].length
    assert.ok(8000 - kept <= 1000, `${8000 - kept} in memory`)
  })
})
