import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { fairTurns } from '../../../src/kernel/fair-turns.js'

describe('fair turns', () => {
  it('serve all requests, those of a team in order, and no team twice before others that wait', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 40 }), async (teams) => {
        const nextTurn = fairTurns()
        const served: { readonly team: string; readonly request: number }[] = []
        const take = async (team: string, request: number) => {
          await nextTurn(team)
          served.push({ team, request })
        }
        await Promise.all(teams.map(take))
        assert.equal(served.length, teams.length)
        const [first, ...others] = served
        for (const team of new Set(teams)) {
          const own = served.filter((one) => one.team === team).map(({ request }) => request)
          assert.deepEqual(
            own,
            own.toSorted((a, b) => a - b),
          )
        }
        // The first one found the loop free. Each later turn of the loop serves one request of each team that waits.
        const left = new Map<string, number>()
        for (const { team } of others) left.set(team, (left.get(team) ?? 0) + 1)
        for (let at = 0; at < others.length;) {
          const waiting = [...left].filter(([, count]) => count > 0).map(([team]) => team)
          const turn = others.slice(at, at + waiting.length).map(({ team }) => team)
          assert.deepEqual(turn.toSorted(), waiting.toSorted())
          for (const team of waiting) left.set(team, left.get(team)! - 1)
          at += waiting.length
        }
        assert.equal(first?.request, teams.length === 0 ? undefined : 0)
      }),
    ))

  it('need no wait when the loop is free', async () => {
    const nextTurn = fairTurns()
    assert.equal(nextTurn('a'), undefined)
    assert.ok(nextTurn('a') instanceof Promise)
    await setImmediate()
    await setImmediate()
    await setImmediate()
    assert.equal(nextTurn('b'), undefined)
  })
})
