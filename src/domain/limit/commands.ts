import type { LimitContent } from './content.js'
import type { BudgetReached } from './events.js'
import type { LimitScope } from './scope.js'

/** Without any limit in it, what held for the scope holds no more. */
export interface ChooseLimit {
  readonly type: 'ChooseLimit'
  readonly team: string
  readonly scope: LimitScope
  readonly content: LimitContent
}

export interface ReachBudget {
  readonly type: 'ReachBudget'
  readonly reached: BudgetReached
}

export type LimitCommand = ChooseLimit | ReachBudget
