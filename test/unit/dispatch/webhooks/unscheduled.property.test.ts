import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import type { Scheduling } from '../../../../src/dispatch/webhooks/scheduling.js'
import { openUnscheduled } from '../../../../src/dispatch/webhooks/unscheduled.js'
import { aScheduled } from '../../domain/webhooks/deliveries/arbitrary.js'

const TEAMS = ['a', 'b', 'b-c']

type Step =
  | { readonly do: 'add'; readonly team: string; readonly many: number }
  | { readonly do: 'remove'; readonly team: string; readonly nth: number }
  | { readonly do: 'read'; readonly team: string; readonly limit: number }
  | { readonly do: 'make room'; readonly leaving: number }
  | { readonly do: 'settle some'; readonly most: number }
  | { readonly do: 'settle' | 'start anew' }

const team = fc.constantFrom(...TEAMS)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('add' as const), team, many: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ do: fc.constant('remove' as const), team, nth: fc.nat(20) }),
  fc.record({ do: fc.constant('read' as const), team, limit: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ do: fc.constant('make room' as const), leaving: fc.nat(8) }),
  fc.record({ do: fc.constant('settle some' as const), most: fc.nat(8) }),
  fc.record({ do: fc.constantFrom('settle' as const, 'start anew' as const) }),
)

const scheduling = (team: string, n: number): Scheduling => ({
  type: 'DeliveryScheduled',
  data: aScheduled({
    delivery_id: `dlv_${n % 7}_${n}`,
    team,
    source: { ...aScheduled().source, position: String(n) },
  }),
})

describe('what is not scheduled yet', () => {
  it('is known by its team and oldest first, wherever it stands, and all of it is in the state once settled', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const state = openSqliteDispatcherState(':memory:')
        let unscheduled = openUnscheduled(state)
        const expected = new Map<string, Scheduling[]>(TEAMS.map((team) => [team, []]))
        let added = 0
        const all = () => [...expected.values()].flat()
        const kept = () => [...state.all('outbox')].map(([, one]) => one)
        const settle = () => {
          assert.equal(unscheduled.settle(Infinity), true)
          assert.deepEqual(kept(), all())
        }
        for (const one of steps)
          if (one.do === 'add')
            for (let n = 0; n < one.many; n += 1) {
              const made = scheduling(one.team, (added += 1))
              unscheduled.add(made)
              expected.get(one.team)!.push(made)
            }
          else if (one.do === 'remove') {
            const [removed] = expected.get(one.team)!.splice(one.nth, 1)
            if (removed !== undefined) unscheduled.remove(removed.data)
          } else if (one.do === 'read')
            assert.deepEqual(
              unscheduled.firstOf(one.team, one.limit),
              expected.get(one.team)!.slice(0, one.limit),
            )
          else if (one.do === 'make room') {
            const before = unscheduled.inMemory()
            unscheduled.makeRoom(one.leaving)
            assert.equal(unscheduled.inMemory(), Math.max(0, before - one.leaving))
          } else if (one.do === 'settle some') {
            const before = kept().length
            assert.equal(unscheduled.settle(one.most), before + one.most >= all().length)
            assert.equal(kept().length, Math.min(before + one.most, all().length))
          } else {
            settle()
            if (one.do === 'start anew') unscheduled = openUnscheduled(state)
          }
        settle()
        const waiting = TEAMS.filter((team) => expected.get(team)!.length > 0)
        assert.deepEqual([...new Set(unscheduled.teams())].sort(), waiting)
        state.close()
      }),
      { numRuns: 500 },
    )
  })
})
