import { teamOf, type GatewayCall } from '../../domain/gateway/limits/gateway-call.js'
import {
  limitDecider,
  type ScopeLimits,
  limitsStream,
  type BudgetReached,
} from '../../domain/gateway/limits/limits.js'
import { levelOfRefusal, levelsDue } from '../../domain/gateway/limits/levels.js'
import type { BudgetExceeded } from '../../domain/gateway/limits/limiter.js'
import { scopesOf, scopeText, type LimitScope } from '../../domain/gateway/limits/scope.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { execute } from '../../kernel/execute.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { LedgerFollower } from './ledger-follower.js'

interface AlertPorts extends Pick<Ports, 'eventStore' | 'ids' | 'clock'> {
  readonly log: Pick<Log, 'warn'>
}

/** Records which levels of budgets are reached, each once: the decider ignores what another process has recorded. */
export class BudgetAlerts {
  private readonly recording = new Set<string>()
  private lastWrite: Promise<void> = Promise.resolve()

  constructor(
    private readonly ports: AlertPorts,
    private readonly follower: () => Pick<LedgerFollower, 'ledger' | 'limitsOf'> | undefined,
  ) {}

  /** Checks the budgets that a completion counts in. */
  check(call: GatewayCall): void {
    const at = instantOf(this.ports.clock.now())
    const sumsOf = (key: string) => this.follower()!.ledger.sums(key)
    for (const limited of this.limitedOf(call, scopesOf(call.project, call.keyId)))
      for (const due of levelsDue(teamOf(call), limited, at, sumsOf)) this.record(due)
  }

  refused(call: GatewayCall, { scope, sums }: BudgetExceeded): void {
    for (const limited of this.limitedOf(call, [scope])) {
      const due = levelOfRefusal(teamOf(call), limited, { at: call.admittedAt, asked: call.reserved, sums })
      if (due !== undefined) this.record(due)
    }
  }

  /** Resolves once everything due is written. */
  settled(): Promise<void> {
    return this.lastWrite
  }

  private limitedOf(call: GatewayCall, scopes: readonly LimitScope[]): readonly ScopeLimits[] {
    const limits = this.follower()?.limitsOf(teamOf(call))
    return scopes.flatMap((scope) => limits?.get(scopeText(scope)) ?? [])
  }

  private record(reached: BudgetReached): void {
    const { team, scope, budget, period, level } = reached
    const identity = JSON.stringify([team, scopeText(scope), budget, period, level])
    if (this.recording.has(identity)) return
    this.recording.add(identity)
    this.lastWrite = this.lastWrite
      .then(() => this.write(reached))
      // It is due again with the next completion.
      .catch((error: unknown) =>
        this.ports.log.warn('gateway.budget_alert_append_failed', {
          error: error instanceof Error ? error.name : typeof error,
        }),
      )
      .finally(() => this.recording.delete(identity))
  }

  private async write(reached: BudgetReached): Promise<void> {
    const id = this.ports.ids.next()
    await execute(this.ports)(limitDecider, limitsStream(reached.team), [{ type: 'ReachBudget', reached }], {
      correlationId: id,
      causationId: id,
      actor: 'system',
      part: 'inference',
    })
  }
}
