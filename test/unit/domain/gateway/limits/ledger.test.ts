import assert from 'node:assert/strict'
import { periodIn } from '../../../../../src/domain/gateway/limits/accounts.js'
import { Ledger, keysOf } from '../../../../../src/domain/gateway/limits/ledger.js'
import type { Instant } from '../../../../../src/kernel/codec/instant.js'
import { aCall, ended, ONE, PRICE, recorded, started, usedTokens } from './given.js'

const call = aCall('a')
const KEYS = keysOf(call)
const sumsOf = (ledger: Ledger) => {
  const [{ spent, reserved, unknown }, ...others] = KEYS.map((key) => ledger.sums(key)) as [
    ReturnType<Ledger['sums']>,
    ...ReturnType<Ledger['sums']>[],
  ]
  for (const other of others) assert.deepEqual(other, { spent, reserved, unknown })
  return [spent / ONE, reserved / ONE, unknown / ONE].map(Number)
}

describe('the ledger of completions', () => {
  it('counts a completion in its team, project and key, of the day and of the month', () => {
    assert.deepEqual(
      KEYS.map((key) => key.replaceAll('\n', ' ')),
      ['team', 'project:project', 'key:key'].flatMap((scope) => [
        `team ${scope} 2026-11-21`,
        `team ${scope} 2026-11`,
      ]),
    )
  })

  it('holds what was reserved until it knows what was used, whoever says it first', () => {
    const ledger = new Ledger()
    ledger.reserve(call)
    assert.deepEqual(sumsOf(ledger), [0, 10, 0])
    ledger.settle(call.stream, { kind: 'used', used: usedTokens(3, 1) })
    assert.deepEqual(sumsOf(ledger), [4, 0, 0])
    ledger.take(recorded(started(call), 1))
    assert.deepEqual(sumsOf(ledger), [4, 0, 0])
    ledger.take(recorded(ended(call, 4), 2))
    assert.deepEqual(sumsOf(ledger), [4, 0, 0])
    assert.deepEqual(ledger.abandoned(), [])
  })

  it('takes back what never began, unless the log says that it did', () => {
    const ledger = new Ledger()
    ledger.reserve(call)
    ledger.release(call.stream)
    assert.deepEqual(sumsOf(ledger), [0, 0, 0])
    ledger.take(recorded(started(call), 1))
    assert.deepEqual(sumsOf(ledger), [0, 10, 0])
    assert.deepEqual(ledger.abandoned(), [call])
  })

  it('names completions of the log that this process does not run', () => {
    const ledger = new Ledger()
    for (const id of ['a', 'b', 'c']) ledger.reserve(aCall(id))
    for (const [at, id] of ['b', 'c', 'd', 'e'].entries()) ledger.take(recorded(started(aCall(id)), at + 1))
    ledger.settle(aCall('c').stream, { kind: 'unknown' })
    ledger.take(recorded(ended(aCall('e'), 1), 5))
    assert.deepEqual(ledger.abandoned(), [aCall('d')])
  })

  it('writes off what was reserved for unknown usage, and nothing else', () => {
    const ledger = new Ledger()
    for (const [at, id] of ['a', 'b', 'c', 'd'].entries()) ledger.take(recorded(started(aCall(id)), at + 1))
    ledger.take(recorded(ended(aCall('a'), null), 5))
    ledger.take(recorded(ended(aCall('b'), null), 6))
    ledger.take(recorded(ended(aCall('c'), 3), 7))
    assert.deepEqual(sumsOf(ledger), [3, 10, 20])
    assert.deepEqual(
      KEYS.map((key) => ledger.unknownIn(key).map(({ id }) => id)),
      KEYS.map(() => ['a', 'b']),
    )
    const writtenOff = {
      type: 'UnknownCostsWrittenOff',
      stream: 'limits-team',
      data: {
        team: 'team',
        reason: null,
        calls: ['a', 'c', 'd', 'other'].map((id) => ({ project_id: 'team/project', id, amount: '10' })),
      },
    }
    for (const position of [8, 9]) ledger.take(recorded(writtenOff, position))
    assert.deepEqual(sumsOf(ledger), [3, 10, 10])
    assert.deepEqual(
      ledger.unknownIn(KEYS[0]!).map(({ id }) => id),
      ['b'],
    )
    const restored = new Ledger(ledger.content())
    assert.deepEqual(sumsOf(restored), [3, 10, 10])
    restored.take(recorded(ended(aCall('d'), 2), 10))
    assert.deepEqual(sumsOf(restored), [5, 0, 10])
  })

  it('keeps what was held where nobody knows, and nothing where nothing is owed', () => {
    for (const [said, sums] of [
      [{}, [0, 0, 10]],
      [{ owed: false }, [0, 0, 0]],
    ] as const) {
      const ledger = new Ledger()
      ledger.take(recorded(started(call), 1))
      ledger.take(recorded(ended(call, null, said), 2))
      assert.deepEqual(sumsOf(ledger), sums)
    }
  })

  it('charges the price that the end names, and that of the start where it names none', () => {
    const price = { ...PRICE, prompt_token_cost: '0.5' }
    for (const [said, spent] of [
      [{}, 4],
      [{ price }, 2],
      [{ price: null }, 0],
      [{ price: { ...price, prompt_token_cost: 'free' } }, 4],
    ] as const) {
      const ledger = new Ledger()
      ledger.take(recorded(started(call), 1))
      ledger.take(recorded(ended(call, 4, said), 2))
      assert.deepEqual(sumsOf(ledger), [spent, 0, 0])
    }
  })

  it('believes no client: neither a call that looks like a completion, nor an end or a deletion of one', () => {
    const ledger = new Ledger()
    ledger.take(recorded(started(call), 1, null))
    assert.deepEqual(sumsOf(ledger), [0, 0, 0])
    for (const [id, event] of [
      ['b', recorded(ended(aCall('b'), 0), 3, null)],
      ['c', recorded({ type: 'CallDeleted', stream: aCall('c').stream, data: {} }, 4, null)],
    ] as const) {
      ledger.take(recorded(started(aCall(id)), 2))
      ledger.take(event)
      ledger.take(recorded(ended(aCall(id), 1), 5))
    }
    assert.deepEqual(sumsOf(ledger), [0, 0, 20])
  })

  it('keeps the current period and the last ten days and four months that had completions', () => {
    const ledger = new Ledger()
    let position = 0
    const complete = (id: string, day: string) => {
      const one = { ...aCall(id), admittedAt: `${day}T12:00:00.000000Z` as Instant }
      ledger.take(recorded(started(one), (position += 1)))
      ledger.take(recorded(ended(one, 1), (position += 1)))
    }
    const periods = (...current: string[]) => {
      ledger.prune(current)
      const all = ledger.content().accounts.map(({ key }) => periodIn(key))
      return [...new Set(all)].sort()
    }
    complete('old', '2026-02-01')
    for (const month of ['03', '04', '05', '06']) complete(month, `2026-${month}-01`)
    for (let day = 10; day < 20; day += 1) complete(`d${day}`, `2026-06-${day}`)
    const june = Array.from({ length: 10 }, (_, n) => `2026-06-${n + 10}`)
    assert.deepEqual(periods('2026-02'), ['2026-02', '2026-03', '2026-04', '2026-05', '2026-06', ...june])
    assert.deepEqual(periods('2026-06-19', '2026-06'), ['2026-03', '2026-04', '2026-05', '2026-06', ...june])
  })

  for (const day of ['2026-11-20', '2025-11-21', '2027-11-21', '1970-01-01'])
    it(`forgets nothing while the clock is at ${day}`, () => {
      const ledger = new Ledger()
      ledger.take(recorded(started(call), 1))
      ledger.take(recorded(ended(call, 1), 2))
      ledger.take(recorded(started(aCall('b')), 3))
      ledger.take(recorded(ended(aCall('b'), null), 4))
      const before = sumsOf(ledger)
      const one = { ...aCall('c'), admittedAt: `${day}T12:00:00.000000Z` as Instant }
      ledger.take(recorded(started(one), 5))
      ledger.take(recorded(ended(one, 1), 6))
      ledger.prune([day, day.slice(0, 7)])
      const again = new Ledger(ledger.content())
      assert.equal(Number(again.sums(KEYS[0]!).spent / ONE), before[0])
      assert.equal(again.unknownIn(KEYS[0]!).length, 1)
      if (day !== '2026-11-20') assert.deepEqual(sumsOf(again), before)
    })
})
