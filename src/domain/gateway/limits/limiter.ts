import { amountFrom } from '../../prices/decimal.js'
import { accountKey, committed, periodOf, type Sums } from './accounts.js'
import type { Budget, LimitContent } from './content.js'
import type { ScopeLimits, TeamLimits } from './limits.js'
import { teamOf, type GatewayCall, type Outcome } from './gateway-call.js'
import type { Ledger } from './ledger.js'
import { scopesOf, scopeText, type LimitScope } from './scope.js'
import { SlidingWindow } from './sliding-window.js'

const MINUTE_MS = 60_000

type Rate = 'requests_per_minute' | 'tokens_per_minute'

/** An exceeded rate, in figures of this process. */
export interface RateExceeded {
  readonly kind: 'rate'
  readonly scope: LimitScope
  readonly rate: Rate | 'concurrency'
  readonly limit: number
  readonly used: number
  readonly requested: number
  /** Milliseconds until there is room; null if unknown, infinity if never. */
  readonly availableInMs: number | null
}

export interface BudgetExceeded {
  readonly kind: 'budget'
  readonly scope: LimitScope
  readonly budget: Budget
  readonly period: string
  readonly sums: Sums
}

/** An admitted completion. */
export interface Permit {
  readonly kind: 'permit'
  /** Undoes the admission: its start was not written. */
  readonly cancel: () => void
  /** Charges the result in place of what is reserved. */
  readonly settle: (outcome: Outcome) => void
}

/** What is left of a rate, in figures of this process. */
export interface RateLeft {
  readonly rate: Rate
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until nothing of it is used. */
  readonly resetMs: number
}

type Windows = Readonly<Record<Rate, SlidingWindow>>

/**
 * Admits completions within the limits: all limits of all its scopes, or none. Reserves the maximum usage at once.
 * Rates are this process's share; budgets come from the ledger.
 */
export class Limiter {
  private readonly windows = new Map<string, Windows>()
  /** Completions in flight by scope, also of scopes without a limit, since one may be set meanwhile. */
  private readonly inFlight = new Map<string, number>()

  constructor(
    private readonly ledger: Ledger,
    private readonly processes: number,
    /** A monotonic clock, in milliseconds. */
    private readonly now: () => number,
  ) {}

  /** @param tokens maximum usage of the completion */
  admit(limits: TeamLimits, call: GatewayCall, tokens: number): Permit | BudgetExceeded | RateExceeded {
    const team = teamOf(call)
    const limited = limitsOf(limits, call)
    for (const { scope, content } of limited) {
      const exceeded = this.budgetExceeded(call, scope, content.budget)
      if (exceeded !== undefined) return exceeded
    }
    for (const { scope, content } of limited) {
      const exceeded = this.rateExceeded(team, scope, content, tokens)
      if (exceeded !== undefined) return exceeded
    }
    return this.enter(limited, call, tokens)
  }

  /** For each rate, the limit of which least is left. */
  left(limits: TeamLimits, call: Pick<GatewayCall, 'project' | 'keyId'>): readonly RateLeft[] {
    const now = this.now()
    return RATES.flatMap((rate) =>
      limitsOf(limits, call)
        .flatMap(({ scope, content }): RateLeft[] => {
          const limit = this.share(content[rate])
          if (limit === null) return []
          const window = this.windowsOf(keyOf(teamOf(call), scope))[rate]
          const remaining = Math.max(0, limit - window.used(now))
          return [{ rate, limit, remaining, resetMs: window.emptyAt(now) - now }]
        })
        .sort((a, b) => a.remaining - b.remaining)
        .slice(0, 1),
    )
  }

  /** A scope's usage in the last minute and its completions in flight. */
  used(
    team: string,
    scope: LimitScope,
  ): { readonly requests: number; readonly tokens: number; readonly running: number } {
    const key = keyOf(team, scope)
    const { requests_per_minute: requests, tokens_per_minute: tokens } = this.windowsOf(key)
    return {
      requests: requests.used(this.now()),
      tokens: tokens.used(this.now()),
      running: this.inFlight.get(key) ?? 0,
    }
  }

  private enter(limited: readonly ScopeLimits[], call: GatewayCall, tokens: number): Permit {
    const { now } = this
    const team = teamOf(call)
    const taken = limited.map(({ scope }) => {
      const { requests_per_minute: requests, tokens_per_minute } = this.windowsOf(keyOf(team, scope))
      const [request, reserved] = [requests.take(now(), 1), tokens_per_minute.take(now(), tokens)]
      return (requested: number, used: number) => {
        requests.correct(now(), request, requested)
        tokens_per_minute.correct(now(), reserved, used)
      }
    })
    const scopes = scopesOf(call.project, call.keyId).map((scope) => keyOf(team, scope))
    for (const scope of scopes) this.inFlight.set(scope, (this.inFlight.get(scope) ?? 0) + 1)
    this.ledger.reserve(call)
    const leave = (requested: number, used: number) => {
      for (const correct of taken) correct(requested, used)
      for (const scope of scopes) {
        const left = this.inFlight.get(scope)! - 1
        if (left === 0) this.inFlight.delete(scope)
        else this.inFlight.set(scope, left)
      }
    }
    return {
      kind: 'permit',
      cancel: () => {
        this.ledger.release(call.stream)
        leave(0, 0)
      },
      settle: (outcome) => {
        this.ledger.settle(call.stream, outcome)
        leave(1, tokensOf(outcome) ?? tokens)
      },
    }
  }

  private budgetExceeded(
    call: GatewayCall,
    scope: LimitScope,
    budget: Budget | null,
  ): BudgetExceeded | undefined {
    if (budget === null) return undefined
    const period = periodOf(budget.period, call.admittedAt)
    const sums = this.ledger.sums(accountKey(teamOf(call), scopeText(scope), period))
    return committed(sums) + call.reserved <= amountFrom(budget.amount)
      ? undefined
      : { kind: 'budget', scope, budget, period, sums }
  }

  private rateExceeded(
    team: string,
    scope: LimitScope,
    content: LimitContent,
    tokens: number,
  ): RateExceeded | undefined {
    const now = this.now()
    const key = keyOf(team, scope)
    for (const rate of RATES) {
      const limit = this.share(content[rate])
      if (limit === null) continue
      const window = this.windowsOf(key)[rate]
      const requested = rate === 'requests_per_minute' ? 1 : tokens
      const at = window.availableAt(now, requested, limit)
      if (at === undefined) continue
      const used = window.used(now)
      return { kind: 'rate', scope, rate, limit, used, requested, availableInMs: at - now }
    }
    const limit = this.share(content.concurrency)
    const used = this.inFlight.get(key) ?? 0
    return limit === null || used < limit
      ? undefined
      : { kind: 'rate', scope, rate: 'concurrency', limit, used, requested: 1, availableInMs: null }
  }

  /** This process's share of a rate, at least 1. */
  private share(rate: number | null): number | null {
    return rate === null ? null : Math.max(1, Math.floor(rate / this.processes))
  }

  private windowsOf(key: string): Windows {
    const known = this.windows.get(key)
    if (known !== undefined) return known
    const windows = {
      requests_per_minute: new SlidingWindow(MINUTE_MS),
      tokens_per_minute: new SlidingWindow(MINUTE_MS),
    }
    this.windows.set(key, windows)
    return windows
  }
}

const RATES = ['requests_per_minute', 'tokens_per_minute'] as const

const limitsOf = (
  limits: TeamLimits,
  call: Pick<GatewayCall, 'project' | 'keyId'>,
): readonly ScopeLimits[] =>
  limits.size === 0
    ? []
    : scopesOf(call.project, call.keyId).flatMap((scope) => limits.get(scopeText(scope)) ?? [])

const keyOf = (team: string, scope: LimitScope): string => `${team}\n${scopeText(scope)}`

/** Undefined if unknown. */
const tokensOf = (outcome: Outcome): number | undefined => {
  if (outcome.kind === 'not-charged') return 0
  return outcome.kind === 'used' ? outcome.used.prompt_tokens + outcome.used.completion_tokens : undefined
}
