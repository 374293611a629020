import type { Amount } from '../price/decimal.js'

/** Where the money of completions stands in a period of a scope. */
export interface Sums {
  /** By usage that was reported or estimated. */
  readonly spent: Amount
  /** Held for completions under way. */
  readonly reserved: Amount
  /** Held for good for completions of which nobody knows what they used. */
  readonly unknown: Amount
}

export const NO_MONEY: Sums = { spent: 0n, reserved: 0n, unknown: 0n }

/** What no other completion can have. */
export const committed = ({ spent, reserved, unknown }: Sums): Amount => spent + reserved + unknown

const MOST_CALLS = 5

/** A scope's money of a period, by the log alone and by all that this process knows. */
export class Account {
  logged = NO_MONEY
  now = NO_MONEY
  /** The calls that were put on it last. */
  readonly calls: string[] = []

  constructor(readonly key: string) {}

  move(view: 'logged' | 'now', from: Sums, to: Sums): void {
    const { spent, reserved, unknown } = this[view]
    this[view] = {
      spent: spent - from.spent + to.spent,
      reserved: reserved - from.reserved + to.reserved,
      unknown: unknown - from.unknown + to.unknown,
    }
  }

  note(stream: string): void {
    if (this.calls.includes(stream)) return
    this.calls.push(stream)
    if (this.calls.length > MOST_CALLS) this.calls.shift()
  }
}

/** The key of the account of a scope of a team, as `scopeText` has it, in a period. */
export const accountKey = (team: string, scope: string, period: string): string =>
  `${team}\n${scope}\n${period}`

export const periodIn = (key: string): string => key.slice(key.lastIndexOf('\n') + 1)
