import assert from 'node:assert/strict'
import type { LimitContent } from '../../../../../src/domain/gateway/limits/content.js'
import { limitDecider, type LimitCommand } from '../../../../../src/domain/gateway/limits/limits.js'
import { TEAM } from '../../../../../src/domain/gateway/limits/scope.js'
import { deciding } from '../../../../support/decided.js'

const decided = deciding(limitDecider)

const NOTHING: LimitContent = {
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrency: null,
  budget: null,
}
const BUDGET = { amount: '10', period: 'day' } as const

const choose = (content: Partial<LimitContent>): LimitCommand => ({
  type: 'ChooseLimit',
  team: 'team',
  scope: TEAM,
  content: { ...NOTHING, ...content },
})
const reach = (level: number, period = '2026-11-21', budget = BUDGET): LimitCommand => ({
  type: 'ReachBudget',
  reached: { team: 'team', scope: TEAM, budget, period, level, spent: '5', refused: false },
})

describe('the decider of limits', () => {
  it('writes a limit that is new, and nothing when it is chosen again', () => {
    assert.deepEqual(decided(choose({ concurrency: 3 })).types, ['LimitChosen'])
    assert.deepEqual(decided(choose({ concurrency: 3 }), choose({ concurrency: 3 })).types, [])
    assert.deepEqual(decided(choose({ concurrency: 3 }), choose({ concurrency: 4 })).types, ['LimitChosen'])
  })

  it('takes a limit away once, where nothing is to hold any more', () => {
    assert.deepEqual(decided(choose({})).types, [])
    const gone = decided(choose({ concurrency: 3 }), choose({}))
    assert.deepEqual([gone.types, gone.state.size], [['LimitRemoved'], 0])
    assert.deepEqual(decided(choose({ concurrency: 3 }), choose({}), choose({})).types, [])
  })

  it('says each level of a budget once for a period', () => {
    const budget = choose({ budget: BUDGET })
    assert.deepEqual(decided(budget, reach(50)).types, ['BudgetReached'])
    assert.deepEqual(decided(budget, reach(50), reach(50)).types, [])
    assert.deepEqual(decided(budget, reach(50), reach(80)).types, ['BudgetReached'])
    assert.deepEqual(decided(budget, reach(50), reach(50, '2026-11-22')).types, ['BudgetReached'])
  })

  it('says the levels of a period also after a clock that was ahead said those of a later one', () => {
    const budget = choose({ budget: BUDGET })
    const ahead = reach(80, '2027-11-22')
    assert.deepEqual(decided(budget, ahead, reach(80)).types, ['BudgetReached'])
    assert.deepEqual(decided(budget, reach(80), ahead, reach(80)).types, [])
  })

  it('says them again for another budget, and never for one that is no more', () => {
    const other = { amount: '20', period: 'day' } as const
    const chosen = [choose({ budget: BUDGET }), reach(50)]
    assert.deepEqual(decided(...chosen, choose({ budget: other }), reach(50)).types, [])
    assert.deepEqual(decided(...chosen, choose({ budget: BUDGET, concurrency: 1 }), reach(50)).types, [])
    assert.deepEqual(decided(...chosen, choose({}), reach(80)).types, [])
    const again = decided(...chosen, choose({ budget: other }), {
      ...reach(50),
      reached: {
        team: 'team',
        scope: TEAM,
        budget: other,
        period: '2026-11-21',
        level: 50,
        spent: '9',
        refused: false,
      },
    } as LimitCommand)
    assert.deepEqual(again.types, ['BudgetReached'])
  })
})
