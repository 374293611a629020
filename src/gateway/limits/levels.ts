import { teamOf, type GatewayCall } from '../../domain/gateway/budgets/gateway-call.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { execute } from '../../kernel/execute.js'
import { limitDecider, type ScopeLimits } from '../../domain/gateway/limits/decider.js'
import { limitsStream, type BudgetReached } from '../../domain/gateway/limits/events.js'
import type { BudgetExceeded } from '../../domain/gateway/limits/gate.js'
import { levelOfRefusal, levelsDue } from '../../domain/gateway/limits/levels.js'
import { scopesOf, scopeText, type LimitScope } from '../../domain/gateway/limits/scope.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { LiveLedger } from './live-ledger.js'

interface Telling {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'clock'> & { readonly log: Pick<Log, 'warn'> }
  readonly live: () => Pick<LiveLedger, 'ledger' | 'limitsOf'> | undefined
}

/** Writes down which levels of budgets are reached, each once: the log decides, whoever sees it first. */
export class LevelsTold {
  private readonly told = new Set<string>()
  private writing: Promise<void> = Promise.resolve()

  constructor(private readonly given: Telling) {}

  /** Looks at the budgets that a completion counts in. */
  look(call: GatewayCall): void {
    for (const limited of this.limitedOf(call, scopesOf(call.project, call.keyId))) {
      const { ledger } = this.given.live()!
      const at = instantOf(this.given.ports.clock.now())
      for (const due of levelsDue(teamOf(call), limited, at, (account) => ledger.sums(account)))
        this.tell(due)
    }
  }

  refused(call: GatewayCall, scope: LimitScope, { sums }: BudgetExceeded): void {
    for (const limited of this.limitedOf(call, [scope])) {
      const asked = { at: call.admittedAt, asked: call.reserved, sums }
      const due = levelOfRefusal(teamOf(call), limited, asked)
      if (due !== undefined) this.tell(due)
    }
  }

  /** Resolves once everything is written that was due. */
  settled(): Promise<void> {
    return this.writing
  }

  private limitedOf(call: GatewayCall, scopes: readonly LimitScope[]): readonly ScopeLimits[] {
    const limits = this.given.live()?.limitsOf(teamOf(call))
    return scopes.flatMap((scope) => limits?.get(scopeText(scope)) ?? [])
  }

  private tell(reached: BudgetReached): void {
    const { team, scope, budget, period, level } = reached
    const identity = JSON.stringify([team, scopeText(scope), budget, period, level])
    if (this.told.has(identity)) return
    this.told.add(identity)
    this.writing = this.writing
      .then(() => write(this.given.ports, reached))
      // What is not written now is due again with the next completion.
      .catch((error: unknown) =>
        this.given.ports.log.warn('gateway.budget_alert_append_failed', {
          error: error instanceof Error ? error.name : typeof error,
        }),
      )
      .finally(() => this.told.delete(identity))
  }
}

const write = async ({ eventStore, ids }: Telling['ports'], reached: BudgetReached): Promise<void> => {
  const id = ids.next()
  await execute({ eventStore, ids })(
    limitDecider,
    limitsStream(reached.team),
    [{ type: 'ReachBudget', reached }],
    { correlationId: id, causationId: id, actor: 'system', part: 'inference' },
  )
}
