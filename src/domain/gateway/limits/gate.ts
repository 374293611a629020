import { accountKey, committed, type Sums } from '../budgets/account.js'
import { teamOf, type GatewayCall, type Outcome } from '../budgets/gateway-call.js'
import type { Ledger } from '../budgets/ledger.js'
import { periodOf } from '../budgets/periods.js'
import { amountFrom } from '../../prices/decimal.js'
import type { Budget } from './content.js'
import type { ScopeLimits, TeamLimits } from './decider.js'
import { Meter, type MeterEntry, type RateExceeded } from './meter.js'
import { scopesOf, scopeText, type LimitScope } from './scope.js'
import { CallsInFlight } from './calls-in-flight.js'

/** An exhausted budget. */
export interface BudgetExceeded {
  readonly budget: Budget
  readonly period: string
  readonly sums: Sums
  /** Streams of the newest calls charged to it, newest first. */
  readonly calls: readonly string[]
}

export type Exceeded = { readonly team: string; readonly scope: LimitScope } & (
  | { readonly kind: 'rate'; readonly exceeded: RateExceeded }
  | { readonly kind: 'budget'; readonly exceeded: BudgetExceeded }
)

/** An admitted completion. */
export interface Admitted {
  readonly kind: 'admitted'
  /** Undoes the admission; its start was not written. */
  readonly withdraw: () => void
  /** Ends the completion; null if its result was not written and is unknown. */
  readonly leave: (outcome: Outcome | null) => void
}

/**
 * Admits completions within the limits: all limits of all its scopes, or none. Reserves the maximum usage at once.
 * Rates are this process's share; budgets come from the ledger.
 */
export class Gate {
  private readonly meters = new Map<string, Meter>()
  private readonly underWay = new CallsInFlight()

  constructor(
    private readonly ledger: Ledger,
    private readonly processes: number,
  ) {}

  /**
   * @param tokens maximum usage of the completion
   * @param now milliseconds of a monotonic clock
   */
  admit(limits: TeamLimits, call: GatewayCall, tokens: number, now: number): Admitted | Exceeded {
    const team = teamOf(call)
    const limited = scopesOf(call.project, call.keyId).flatMap((scope) => limits.get(scopeText(scope)) ?? [])
    for (const { scope, content } of limited) {
      const exceeded = content.budget === null ? undefined : this.overspent(call, scope, content.budget)
      if (exceeded !== undefined) return { kind: 'budget', team, scope, exceeded }
    }
    for (const { scope, content } of limited) {
      const running = this.underWay.of(keyOf(team, scope))
      const exceeded = this.meter(team, scope).exceeded(content, this.processes, now, tokens, running)
      if (exceeded !== undefined) return { kind: 'rate', team, scope, exceeded }
    }
    return this.enter(limited, call, tokens, now)
  }

  /** A scope's usage in the last minute and its completions in flight. */
  used(
    team: string,
    scope: LimitScope,
    now: number,
  ): ReturnType<Meter['used']> & { readonly running: number } {
    return { ...this.meter(team, scope).used(now), running: this.underWay.of(keyOf(team, scope)).size }
  }

  private enter(limited: readonly ScopeLimits[], call: GatewayCall, tokens: number, now: number): Admitted {
    const team = teamOf(call)
    const passages = limited.map(({ scope }): [Meter, MeterEntry] => {
      const meter = this.meter(team, scope)
      return [meter, meter.enter(now, tokens, call.stream)]
    })
    const scopes = scopesOf(call.project, call.keyId).map((scope) => keyOf(team, scope))
    this.underWay.enter(scopes, call.stream)
    const leave = (used: number | null) => {
      this.underWay.leave(scopes, call.stream)
      for (const [meter, passage] of passages) meter.leave(passage, used)
    }
    this.ledger.reserve(call)
    return {
      kind: 'admitted',
      withdraw: () => {
        this.ledger.release(call.stream)
        leave(null)
      },
      leave: (outcome) => {
        if (outcome === null) this.ledger.lose(call.stream)
        else this.ledger.settle(call.stream, outcome)
        leave(tokensOf(outcome) ?? tokens)
      },
    }
  }

  private overspent(call: GatewayCall, scope: LimitScope, budget: Budget): BudgetExceeded | undefined {
    const period = periodOf(budget.period, call.admittedAt)
    const key = accountKey(teamOf(call), scopeText(scope), period)
    const sums = this.ledger.sums(key)
    return committed(sums) + call.reserved <= amountFrom(budget.amount)
      ? undefined
      : { budget, period, sums, calls: this.ledger.lastCalls(key) }
  }

  private meter(team: string, scope: LimitScope): Meter {
    const key = keyOf(team, scope)
    const known = this.meters.get(key)
    if (known !== undefined) return known
    const meter = new Meter()
    this.meters.set(key, meter)
    return meter
  }
}

const keyOf = (team: string, scope: LimitScope): string => `${team}\n${scopeText(scope)}`

/** Undefined if unknown. */
const tokensOf = (outcome: Outcome | null): number | undefined => {
  if (outcome?.kind === 'not-owed') return 0
  return outcome?.kind === 'used' ? outcome.used.prompt_tokens + outcome.used.completion_tokens : undefined
}
