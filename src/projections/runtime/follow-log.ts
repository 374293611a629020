import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../domain/ports/log.js'
import { errorName } from './error-name.js'

const AGAIN_MS = 1000

/** Reads until stopped: a subscription that breaks is taken up again, by `read`, from the last position it read. */
export const followLog = async (
  read: () => Promise<void>,
  signal: AbortSignal,
  log: Pick<Log, 'error'>,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      await read()
    } catch (error) {
      log.error('projection.subscription_failed', { error: errorName(error) })
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}
