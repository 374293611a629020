import { admitting, type Admit } from './admission.js'
import { LevelsTold } from './levels.js'
import { openLedger, type LedgerPorts, type LiveLedger } from './live-ledger.js'
import { recovering } from './recovery.js'
import { Gate } from '../../domain/gateway/limits/gate.js'

/** What the limits of completions need. */
export interface OpenLimits {
  readonly live: LiveLedger
  readonly gate: Gate
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
  let opened: LiveLedger | undefined
  const levels = new LevelsTold({ ports, live: () => opened })
  const live = (opened = await openLedger({ ...ports, onCall: (call) => levels.look(call) }))
  const gate = new Gate(live.ledger, apiProcesses)
  const ready = live.ready(Infinity)
  const startedAt = ports.clock.now().getTime() - performance.now()
  const latest = () => startedAt + performance.now()
  const recovery = recovering({ ports, live, instance, isAlone, latest }, ready)
  await live.ready(READY_WITHIN_MS)
  return {
    live,
    gate,
    admit: admitting({
      ports,
      live,
      gate,
      instance,
      onSpent: (call, { scope, exceeded }) => levels.refused(call, scope, exceeded),
    }),
    stop: async () => {
      await live.stop()
      await recovery.stop()
      await levels.settled()
    },
  }
}
