import type { Instant } from '../../../kernel/codec/instant.js'
import type { BudgetPeriod } from '../limits/content.js'

/** The UTC day (`2026-11-21`) or month (`2026-11`) of an instant. */
export const periodOf = (kind: BudgetPeriod, at: Instant): string => at.slice(0, kind === 'day' ? 10 : 7)

/** The start of the next period, in milliseconds since 1970. */
export const endOf = (period: string): number => {
  const [year, month, day] = period.split('-').map(Number) as [number, number, number?]
  return day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1)
}
