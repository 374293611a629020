import type { LimitContent } from './content.js'
import type { BudgetReached } from './events.js'
import type { LimitScope } from './scope.js'

/** Content without any limit removes the scope's limit. */
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
