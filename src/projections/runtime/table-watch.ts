import { setTimeout as sleep } from 'node:timers/promises'
import { backoff } from '../../kernel/backoff.js'
import type { Log } from '../../kernel/ports/log.js'
import { within } from '../../kernel/within.js'
import { errorName } from './error-name.js'
import type { Notifier } from './notifier.js'

interface Watching {
  /** What tables have lost, in words. */
  readonly losses: (signal: AbortSignal) => Promise<readonly string[]>
  /** Drops the tables and fills them again from the log. `ready` is awaited before, while nothing is read. */
  readonly refill: (
    losses: readonly string[],
    ready: () => Promise<void>,
    signal: AbortSignal,
  ) => Promise<void>
  /** Notified when it is time to look. */
  readonly looking: Notifier
  readonly log: Pick<Log, 'error' | 'warn'>
}

/** The least time between two looks. */
const LEAST_MS = 1000
/** Tables that are damaged again soon are filled again after a pause, which grows. */
const PAUSE = { firstMs: 1000, maxMs: 10 * 60_000 }
const QUIET_MS = 10 * 60_000

/** Has tables filled again when they have lost something. */
export const watchTables = ({
  losses,
  refill,
  looking,
  log,
}: Watching): { readonly stop: () => Promise<void> } => {
  const stopping = new AbortController()
  const { signal } = stopping
  let refills = 0
  let refilledAt = -Infinity
  let failing = ''

  const look = async () => {
    for (;;) {
      const lost = await losses(signal)
      if (lost.length === 0 || signal.aborted) return
      log.error('projection.tables_damaged', { lost, so: 'the read models are filled again from the log' })
      refills = performance.now() - refilledAt < QUIET_MS ? refills + 1 : 0
      const ready = async () => {
        if (refills > 0) await backoff(refills, { ...PAUSE, signal })
      }
      await refill(lost, ready, signal)
      refilledAt = performance.now()
    }
  }

  const follow = async () => {
    while (!signal.aborted) {
      // What is lost during a look may be in a table that was looked at before.
      const next = looking.next()
      try {
        await look()
        failing = ''
      } catch (error) {
        const name = errorName(error)
        if (name !== failing) log.warn('projection.tables_not_checked', { error: name })
        failing = name
      }
      await sleep(LEAST_MS, undefined, { signal, ref: false }).catch(() => undefined)
      await within(Infinity, next, { signal })
    }
  }
  const following = follow()

  return {
    stop: () => {
      stopping.abort()
      return following
    },
  }
}
