import type { Instant } from '../../../kernel/codec/instant.js'
import type { Amount } from '../../prices/decimal.js'
import type { BudgetPeriod } from './content.js'

/** The cost of a scope's completions in one period. */
export interface Sums {
  /** From reported or estimated usage. */
  readonly spent: Amount
  /** Reserved for completions in flight. */
  readonly reserved: Amount
  /** The reservations of completions whose usage was never learned. */
  readonly unknown: Amount
}

export const NO_COST: Sums = { spent: 0n, reserved: 0n, unknown: 0n }

/** What is not available to further completions. */
export const committed = ({ spent, reserved, unknown }: Sums): Amount => spent + reserved + unknown

export const add = (sums: Sums, { spent, reserved, unknown }: Sums): Sums => ({
  spent: sums.spent + spent,
  reserved: sums.reserved + reserved,
  unknown: sums.unknown + unknown,
})

export const subtract = (sums: Sums, { spent, reserved, unknown }: Sums): Sums =>
  add(sums, { spent: -spent, reserved: -reserved, unknown: -unknown })

/** Account key of a team's scope (as `scopeText`) in a period. */
export const accountKey = (team: string, scope: string, period: string): string =>
  `${team}\n${scope}\n${period}`

export const periodIn = (key: string): string => key.slice(key.lastIndexOf('\n') + 1)

export const isDay = (period: string): boolean => period.length === 10

/** The UTC day (`2026-11-21`) or month (`2026-11`) of an instant. */
export const periodOf = (kind: BudgetPeriod, at: Instant): string => at.slice(0, kind === 'day' ? 10 : 7)

/** The start of the next period, in milliseconds since 1970. */
export const endOf = (period: string): number => {
  const [year, month, day] = period.split('-').map(Number) as [number, number, number?]
  return day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1)
}
