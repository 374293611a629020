import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayCall } from '../../domain/gateway/budgets/gateway-call.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { giveUp } from '../completions/giving-up.js'
import type { LiveLedger } from './live-ledger.js'

interface Recovering {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'clock'> & { readonly log: Pick<Log, 'info' | 'warn'> }
  readonly live: Pick<LiveLedger, 'ledger' | 'isReady'>
  /** This process, in what it records. */
  readonly instance: string
  /** Whether no other process can be at work on this log. */
  readonly isAlone: boolean
  /** In milliseconds since 1970, by a clock that nobody sets: deadlines have passed that have by both. */
  readonly latest: () => number
}

const EVERY_MS = 30_000
const GRACE_MS = 60_000
const AT_ONCE = 16

/** Whether nobody will end a completion any more. */
const isAbandoned = (
  call: GatewayCall,
  { instance, isAlone }: Pick<Recovering, 'instance' | 'isAlone'>,
  now: number,
): boolean => (isAlone && call.instance !== instance) || isOverdue(call, now)

const isOverdue = ({ deadlineAt }: GatewayCall, now: number): boolean =>
  Date.parse(deadlineAt) + GRACE_MS < now

/** Whose start was not seen to be written has not begun, once it would be over. */
const forgetUnbegun = ({ ledger }: Recovering['live'], now: number): void => {
  for (const call of [...ledger.withoutStart()]) if (isOverdue(call, now)) ledger.release(call.stream)
}

/**
 * Ends completions whose process is gone as ones of which nobody knows the outcome (gateway rule 3): those of earlier
 * processes at once where there can be no other, else each after its deadline. What this process is at work on is not
 * among them, whatever its clock says. Returns how many were looked at.
 */
export const endAbandoned = async ({ ports, live, latest, ...whose }: Recovering): Promise<number> => {
  if (!live.isReady()) return 0
  const now = ports.clock.now()
  const surely = Math.min(now.getTime(), latest())
  forgetUnbegun(live, surely)
  const abandoned = [...live.ledger.open()].filter((call) => isAbandoned(call, whose, surely))
  const end = ({ project, id }: GatewayCall) =>
    giveUp(ports, { project, id, endedAt: now, exception: 'outcome unknown' })
  for (let at = 0; at < abandoned.length; at += AT_ONCE)
    await Promise.all(abandoned.slice(at, at + AT_ONCE).map(end))
  if (abandoned.length > 0) ports.log.info('gateway.abandoned_calls_ended', { calls: abandoned.length })
  return abandoned.length
}

/** Does so every half minute, once `ready` resolves, until stopped. */
export const recovering = (
  given: Recovering,
  ready: Promise<unknown>,
): { readonly stop: () => Promise<void> } => {
  const stopping = new AbortController()
  const { signal } = stopping
  const run = async (): Promise<void> => {
    await ready
    while (!signal.aborted) {
      try {
        await endAbandoned(given)
      } catch (error) {
        given.ports.log.warn('gateway.recovery_failed', {
          error: error instanceof Error ? error.name : typeof error,
        })
      }
      await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}
