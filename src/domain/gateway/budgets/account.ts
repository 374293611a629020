import type { Amount } from '../../prices/decimal.js'

/** The cost of a scope's completions in one period. */
export interface Sums {
  /** From reported or estimated usage. */
  readonly spent: Amount
  /** Reserved for completions in flight. */
  readonly reserved: Amount
  /** Charged in full for completions whose usage was never learned. */
  readonly unknown: Amount
}

export const NO_MONEY: Sums = { spent: 0n, reserved: 0n, unknown: 0n }

/** What is not available to further completions. */
export const committed = ({ spent, reserved, unknown }: Sums): Amount => spent + reserved + unknown

const MOST_CALLS = 5

/** The costs of a scope in a period: `logged` as of the log, `now` with what this process knows ahead of the log. */
export class Account {
  logged = NO_MONEY
  now = NO_MONEY
  /** Streams of the newest calls charged to it. */
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

/** Account key of a team's scope (as `scopeText`) in a period. */
export const accountKey = (team: string, scope: string, period: string): string =>
  `${team}\n${scope}\n${period}`

export const periodIn = (key: string): string => key.slice(key.lastIndexOf('\n') + 1)
