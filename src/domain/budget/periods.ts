import type { Instant } from '../codec/instant.js'
import type { BudgetPeriod } from '../limit/content.js'

/** The day, `2026-11-21`, or the month, `2026-11`, that an instant lies in, by UTC. */
export const periodOf = (kind: BudgetPeriod, at: Instant): string => at.slice(0, kind === 'day' ? 10 : 7)

/** When the period behind it begins, in milliseconds since 1970. */
export const endOf = (period: string): number => {
  const [year, month, day] = period.split('-').map(Number) as [number, number, number?]
  return day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1)
}
