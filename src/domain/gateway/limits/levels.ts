import type { Instant } from '../../../kernel/codec/instant.js'
import { amountFrom, decimalText } from '../../prices/decimal.js'
import { accountKey, periodOf, type Sums } from './accounts.js'
import { isReached, type ScopeLimits, LEVELS, type BudgetReached } from './limits.js'
import { scopeText } from './scope.js'

/** Budget levels that are reached but not reported yet. */
export const levelsDue = (
  team: string,
  limited: ScopeLimits,
  at: Instant,
  sumsOf: (account: string) => Sums,
): readonly BudgetReached[] => {
  const { scope, content } = limited
  const { budget } = content
  if (budget === null) return []
  const amount = amountFrom(budget.amount)
  const period = periodOf(budget.period, at)
  const sums = sumsOf(accountKey(team, scopeText(scope), period))
  const spent = sums.spent + sums.unknown
  if (spent === 0n) return []
  return LEVELS.filter(
    (level) => spent * 100n >= amount * BigInt(level) && !isReached(limited, period, level),
  ).map((level) => ({ team, scope, budget, period, level, spent: decimalText(spent), refused: false }))
}

/** Reports level 100 for a refused completion that would fit an unspent budget. */
export const levelOfRefusal = (
  team: string,
  limited: ScopeLimits,
  { at, asked, sums }: { readonly at: Instant; readonly asked: bigint; readonly sums: Sums },
): BudgetReached | undefined => {
  const { scope, content } = limited
  const { budget } = content
  if (budget === null || asked > amountFrom(budget.amount)) return undefined
  const period = periodOf(budget.period, at)
  if (isReached(limited, period, 100)) return undefined
  const spent = decimalText(sums.spent + sums.unknown)
  return { team, scope, budget, period, level: 100, spent, refused: true }
}
