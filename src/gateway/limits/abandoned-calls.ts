import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayCall } from '../../domain/gateway/limits/gateway-call.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { endAbandonedCall } from '../completions/abandoned-call.js'
import type { LedgerFollower } from './ledger-follower.js'

interface RecoveryOptions {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'clock'> & { readonly log: Pick<Log, 'info' | 'warn'> }
  readonly follower: Pick<LedgerFollower, 'ledger' | 'isReady'>
  /** This process, in what it records. */
  readonly instance: string
  /** Whether no other process shares the log. */
  readonly isAlone: boolean
  /** The time by a monotonic clock, in milliseconds since 1970: the system's clock may be set to a wrong time. */
  readonly monotonicNow: () => number
}

const EVERY_MS = 30_000
const GRACE_MS = 60_000
const AT_ONCE = 16

/**
 * Ends calls of processes that are gone with the exception "outcome unknown" (gateway rule 3): at once if no other process
 * shares the log, otherwise after their deadline. Returns their number.
 */
export const endAbandonedCalls = async ({
  ports,
  follower,
  instance,
  isAlone,
  monotonicNow,
}: RecoveryOptions): Promise<number> => {
  if (!follower.isReady()) return 0
  const now = ports.clock.now()
  const overdueBefore = Math.min(now.getTime(), monotonicNow()) - GRACE_MS
  const abandoned = follower.ledger
    .abandoned()
    .filter((call) => (isAlone && call.instance !== instance) || Date.parse(call.deadlineAt) < overdueBefore)
  const end = ({ project, id }: GatewayCall) =>
    endAbandonedCall(ports, { project, id, endedAt: now, exception: 'outcome unknown' })
  for (let at = 0; at < abandoned.length; at += AT_ONCE)
    await Promise.all(abandoned.slice(at, at + AT_ONCE).map(end))
  if (abandoned.length > 0) ports.log.info('gateway.abandoned_calls_ended', { calls: abandoned.length })
  return abandoned.length
}

/** Does so every half minute, once `ready` resolves, until stopped. */
export const startRecovery = (
  options: RecoveryOptions,
  ready: Promise<unknown>,
): { readonly stop: () => Promise<void> } => {
  const stopping = new AbortController()
  const { signal } = stopping
  const run = async (): Promise<void> => {
    await ready
    while (!signal.aborted) {
      try {
        await endAbandonedCalls(options)
      } catch (error) {
        options.ports.log.warn('gateway.recovery_failed', {
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
