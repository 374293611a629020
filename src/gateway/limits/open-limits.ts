import { Limiter } from '../../domain/gateway/limits/limiter.js'
import { startRecovery } from './abandoned-calls.js'
import { admission, type Admit } from './admission.js'
import { BudgetAlerts } from './budget-alerts.js'
import { followLedger, type LedgerFollower, type LedgerPorts } from './ledger-follower.js'

/** What the limits of completions need. */
export interface OpenLimits {
  readonly follower: LedgerFollower
  readonly limiter: Limiter
  readonly admit: Admit
  readonly stop: () => Promise<void>
}

interface LimitsOptions {
  readonly apiProcesses: number
  /** This process, in what it records. */
  readonly instance: string
  /** No other process shares the log. */
  readonly isAlone: boolean
}

/** The start waits this long for the ledger to read the log. A longer log is read while the service already runs. */
const READY_WITHIN_MS = 1000

export const openLimits = async (
  ports: LedgerPorts,
  { apiProcesses, instance, isAlone }: LimitsOptions,
): Promise<OpenLimits> => {
  let opened: LedgerFollower | undefined
  const alerts = new BudgetAlerts(ports, () => opened)
  const follower = (opened = await followLedger({ ...ports, onCall: (call) => alerts.check(call) }))
  const limiter = new Limiter(follower.ledger, apiProcesses, () => performance.now())
  const startedAt = ports.clock.now().getTime() - performance.now()
  const monotonicNow = () => startedAt + performance.now()
  const recovery = startRecovery(
    { ports, follower, instance, isAlone, monotonicNow },
    follower.ready(Infinity),
  )
  await follower.ready(READY_WITHIN_MS)
  return {
    follower,
    limiter,
    admit: admission({
      clock: ports.clock,
      follower,
      limiter,
      instance,
      onBudgetExceeded: (call, refused) => alerts.refused(call, refused),
    }),
    stop: async () => {
      await follower.stop()
      await recovery.stop()
      await alerts.settled()
    },
  }
}
