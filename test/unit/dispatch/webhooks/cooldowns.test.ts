import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { openCooldowns } from '../../../../src/dispatch/webhooks/cooldowns.js'

const HOUR = 3600 * 1000
const DAY = 24 * HOUR

describe('the cooldowns', () => {
  const matches = fc.array(
    fc.record({ run: fc.integer({ min: 0, max: 40 }), later: fc.integer({ min: 0, max: 10 * HOUR }) }),
    { maxLength: 100 },
  )

  it('know every match of the last day, and forget those before', () =>
    fc.assert(
      fc.property(matches, (given) => {
        const state = openSqliteDispatcherState(':memory:')
        const cooldowns = openCooldowns(state)
        const last = new Map<string, number>()
        let at = Date.parse('2026-01-01T00:00:00Z')
        given.forEach(({ run, later }, index) => {
          at += later
          last.set(`a\n${run}`, at)
          cooldowns.note(`a\n${run}`, { position: BigInt(index), at: new Date(at) })
          for (const [key, time] of last)
            if (time + DAY > at) assert.equal(cooldowns.last(key)?.at.getTime(), time)
        })
        for (let more = 0; more < 50; more += 1)
          cooldowns.note('b\n1', { position: 1000n, at: new Date(at + 8 * DAY + more) })
        assert.equal([...state.all('cooldown')].length, 1)
        assert.equal([...state.all('cooldown-by-time')].length, 1)
        state.close()
      }),
      { numRuns: 30 },
    ))

  it('know a match that a clock went past and came back before', () => {
    const state = openSqliteDispatcherState(':memory:')
    const cooldowns = openCooldowns(state)
    const at = Date.parse('2026-01-01T00:00:00Z')
    cooldowns.note('a\n1', { position: 1n, at: new Date(at) })
    for (const [position, run] of [2n, 3n, 4n].entries())
      cooldowns.note(`a\n${run}`, { position: BigInt(position + 2), at: new Date(at + DAY + 3_600_000) })
    assert.equal(cooldowns.last('a\n1')?.at.getTime(), at)
    state.close()
  })
})
