import assert from 'node:assert/strict'
import { Ledger, keysOf } from '../../../../../src/domain/gateway/limits/ledger.js'
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

  it('forgets the periods that are over, once nothing is reserved in them', () => {
    const ledger = new Ledger()
    const left = (...current: string[]) => {
      ledger.prune(new Set(current))
      return ledger.content().accounts.length
    }
    ledger.take(recorded(started(call), 1))
    ledger.take(recorded(started(aCall('b')), 2))
    ledger.take(recorded(ended(call, 1), 3))
    assert.equal(left(), 6)
    ledger.take(recorded(ended(aCall('b'), null), 4))
    assert.equal(left('2026-11'), 3)
    assert.equal(ledger.unknownIn(KEYS[0]!).length, 1)
    assert.equal(left(), 0)
    assert.equal(ledger.unknownIn(KEYS[0]!).length, 0)
  })
})
