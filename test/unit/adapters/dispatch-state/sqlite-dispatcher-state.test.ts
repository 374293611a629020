import assert from 'node:assert/strict'
import { join } from 'node:path'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import {
  initialState,
  evolve,
  type WaitingDelivery,
} from '../../../../src/domain/webhooks/deliveries/state.js'
import { instantAt } from '../../../../src/domain/webhooks/deliveries/times.js'
import type { Json } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { jsonText } from '../../../../src/kernel/json/text.js'
import type {
  DispatcherState,
  OpenEntry,
} from '../../../../src/domain/webhooks/deliveries/dispatcher-state.js'
import { aScheduled } from '../../domain/webhooks/deliveries/arbitrary.js'
import { temporaryDirectory, type TemporaryDirectory } from '../event-store/temporary-directory.js'

const waiting = (changed: Partial<WaitingDelivery> = {}): WaitingDelivery => ({
  ...(evolve(initialState, {
    type: 'DeliveryScheduled',
    data: aScheduled({ webhook_id: 'w' }),
  }) as WaitingDelivery),
  dueAt: instantAt(1000),
  ...changed,
})

const entry = (id: string, order: bigint, changed: Partial<WaitingDelivery> = {}): OpenEntry => ({
  id,
  delivery: waiting(changed),
  revision: 0n,
  order,
})

const at = (millis: number): Instant => instantAt(millis)

describe("the dispatcher's state in SQLite", () => {
  let directory: TemporaryDirectory
  before(async () => (directory = await temporaryDirectory()))
  after(() => directory.remove())
  let names = 0
  let path: string
  let state: DispatcherState
  beforeEach(() => {
    path = join(directory.path, `state-${(names += 1)}.db`)
    state = openSqliteDispatcherState(path)
  })
  afterEach(() => state.close())

  const reopen = () => {
    state.close()
    state = openSqliteDispatcherState(path)
  }

  it('keeps what was committed, with its checkpoint, and nothing else', () => {
    state.put('webhook', 'w', { url: 'one' })
    state.putDelivery(entry('a', 1n))
    state.commit(7n)
    state.put('webhook', 'w', { url: 'two' })
    state.removeDelivery('a')
    reopen()
    assert.equal(state.checkpoint(), 7n)
    assert.deepEqual(state.get('webhook', 'w'), { url: 'one' })
    assert.deepEqual(state.delivery('a'), entry('a', 1n))
  })

  it('takes back what was folded since the last commit', () => {
    state.commit(1n)
    state.put('cooldown', 'k', 1)
    state.rollBack()
    assert.equal(state.get('cooldown', 'k'), undefined)
    state.put('cooldown', 'k', 2)
    state.commit(2n)
    assert.equal(state.get('cooldown', 'k'), 2)
  })

  it('gives what has been due longest, to one claimant', () => {
    state.putDelivery(entry('late', 1n, { phase: 'retrying', dueAt: at(3000) }))
    state.putDelivery(entry('early', 2n, { phase: 'retrying', dueAt: at(2000) }))
    state.putDelivery(entry('first', 3n, { dueAt: at(1000) }))
    assert.equal(state.claimDue('w', 'retry', 2500)?.id, 'early')
    assert.equal(state.claimDue('w', 'retry', 2500), undefined)
    assert.equal(state.claimDue('w', 'fresh', 2500)?.id, 'first')
    assert.equal(state.nextDue('w'), 3000)
    state.unclaim('early')
    assert.equal(state.nextDue('w'), 2000)
  })

  it('gives first attempts though the clock was set back since they became due', () => {
    state.putDelivery(entry('later', 1n, { dueAt: at(9000) }))
    state.putDelivery(entry('sooner', 2n, { dueAt: at(8000) }))
    assert.equal(state.claimDue('w', 'fresh', 1000)?.id, 'sooner')
    assert.equal(state.claimProbe('w', 1000)?.id, 'later')
  })

  it('keeps whole numbers in all their digits', () => {
    const wide = '{"n":12345678901234567890,"of":[-98765432109876543210]}'
    state.put('outbox', 'k', parseJson(wide))
    const found = [state.get('outbox', 'k'), ...[...state.all('outbox')].map(([, value]) => value)]
    assert.deepEqual(
      found.map((value) => jsonText(value as Json)),
      [wide, wide],
    )
  })

  it('forgets claims with the process', () => {
    state.putDelivery(entry('a', 1n))
    state.claimDue('w', 'fresh', 5000)
    state.commit(1n)
    reopen()
    assert.equal(state.claimDue('w', 'fresh', 5000)?.id, 'a')
  })

  it('probes with the newest first attempt, then with the due retries by failures', () => {
    const retry = { phase: 'retrying', dueAt: at(2000) } as const
    state.putDelivery(entry('poison', 6n, { ...retry, failures: 5 }))
    state.putDelivery(entry('failed once', 2n, { ...retry, failures: 1 }))
    state.putDelivery(entry('failed once, newer', 3n, { ...retry, failures: 1 }))
    state.putDelivery(entry('not due', 4n, { ...retry, dueAt: at(9000) }))
    state.putDelivery(entry('older', 1n, { dueAt: at(1000) }))
    state.putDelivery(entry('newest', 5n, { dueAt: at(1500) }))
    const probes = Array.from({ length: 6 }, () => state.claimProbe('w', 5000)?.id)
    assert.deepEqual(probes, ['newest', 'older', 'failed once, newer', 'failed once', 'poison', undefined])
  })

  it('restarts only the waits that began after the time to which the clock was set back', () => {
    const wait = { phase: 'retrying', since: at(50_000), dueAt: at(60_000) } as const
    state.putDelivery(entry('future', 1n, wait))
    state.putDelivery(entry('throttled', 2n, { ...wait, notBefore: at(60_000) }))
    state.putDelivery(entry('unknown', 3n, { ...wait, since: at(60_000) }))
    state.putDelivery(entry('past', 4n, { ...wait, since: at(4000) }))
    state.putDelivery(entry('set back during the attempt', 5n, { ...wait, dueAt: at(7000) }))
    state.restartWaits(5000)
    const due = (now: number) => {
      const ids: (string | undefined)[] = []
      for (let id = state.claimDue('w', 'retry', now)?.id; id !== undefined;) {
        ids.push(id)
        id = state.claimDue('w', 'retry', now)?.id
      }
      return ids
    }
    assert.deepEqual(due(5000), ['unknown'])
    assert.deepEqual(due(7000), ['set back during the attempt'])
    assert.deepEqual(due(14_999), [])
    assert.deepEqual(due(15_000), ['future', 'throttled'])
    assert.deepEqual(due(60_000), ['past'])
  })

  it('hastens what waits, but not before the receiver asked for it', () => {
    state.putDelivery(entry('a', 1n, { phase: 'retrying', dueAt: at(90_000) }))
    state.putDelivery(entry('b', 2n, { phase: 'retrying', dueAt: at(90_000), notBefore: at(50_000) }))
    state.hasten('w', 10_000, { after: 0n, limit: 10 })
    assert.equal(state.nextDue('w'), 10_000)
    assert.equal(state.claimDue('w', 'retry', 49_999)?.id, 'a')
    assert.equal(state.claimDue('w', 'retry', 49_999), undefined)
    assert.equal(state.claimDue('w', 'retry', 50_000)?.id, 'b')
  })

  it('hastens also what the receiver asked to wait for when that is ignored', () => {
    state.putDelivery(entry('a', 1n, { phase: 'retrying', dueAt: at(90_000), notBefore: at(50_000) }))
    state.hasten('w', 10_000, { after: 0n, limit: 10, ignoresNotBefore: true })
    assert.equal(state.claimDue('w', 'retry', 10_000)?.id, 'a')
  })

  it('hastens some at a time, the oldest first, and none of them again', () => {
    for (const [index, id] of ['a', 'b', 'c'].entries())
      state.putDelivery(entry(id, BigInt(index + 1), { phase: 'retrying', dueAt: at(90_000 - index) }))
    assert.equal(state.hasten('w', 1000, { after: 0n, limit: 2 }), 2n)
    assert.equal(state.claimDue('w', 'retry', 1000)?.id, 'a')
    state.putDelivery(entry('a', 1n, { phase: 'retrying', dueAt: at(95_000) }))
    assert.equal(state.hasten('w', 2000, { after: 2n, limit: 2 }), 3n)
    assert.equal(state.hasten('w', 3000, { after: 3n, limit: 2 }), undefined)
    assert.equal(state.claimDue('w', 'retry', 3000)?.id, 'b')
    assert.equal(state.claimDue('w', 'retry', 3000)?.id, 'c')
    assert.equal(state.claimDue('w', 'retry', 3000), undefined)
  })

  it('refuses a delivery that is due at no time', () =>
    assert.throws(() => state.putDelivery(entry('a', 1n, { dueAt: 'soon' as Instant })), RangeError))
})
