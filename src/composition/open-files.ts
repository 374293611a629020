import type { Log } from '../kernel/ports/log.js'
import { OperatorError } from '../kernel/ports/operator-error.js'

/** Measured: the embedded engine opens three files for each of its threads, and over a hundred at the start. */
const MINIMUM = 256
/** Reserved for stores, webhooks and upstreams. With a low limit, clients get a quarter. */
const RESERVED = 256

/** @throws OperatorError when the engine would hang, and the service with it */
export const requireOpenFiles = (limit: number | undefined): void => {
  if (limit !== undefined && limit < MINIMUM)
    throw new OperatorError(
      `the limit of open files is ${limit}, and the embedded stores need ${MINIMUM}: raise it (ulimit -n)`,
    )
}

export interface ConnectionLimit {
  readonly maximum: number
  /** Called for each connection closed because of the limit. */
  readonly onRefused: () => void
}

const LOG_EVERY_MS = 60_000

/**
 * The limit of client connections under a limit of open files. Without it, clients could use up all files: the system
 * then closes connections without telling this process, and the stores cannot open files.
 */
export const connectionLimit = (
  files: number | undefined,
  log: Pick<Log, 'warn'>,
  now = () => performance.now(),
): ConnectionLimit | undefined => {
  if (files === undefined || files === Infinity) return undefined
  const maximum = Math.max(files - RESERVED, Math.floor(files / 4))
  let [refused, loggedAt] = [0, -Infinity]
  return {
    maximum,
    onRefused: () => {
      refused += 1
      if (now() - loggedAt < LOG_EVERY_MS) return
      const should = 'close client connections, or raise the limit of open files (ulimit -n)'
      log.warn('connections.refused', { refused, most_connections: maximum, most_open_files: files, should })
      ;[refused, loggedAt] = [0, now()]
    },
  }
}
