import type { Log } from '../domain/ports/log.js'
import { OperatorError } from '../domain/ports/operator-error.js'

/** Measured: the embedded engine opens three files for each of its threads, and starts over a hundred in all. */
const LEAST = 256
/** For stores, messages and upstreams; where there are few, clients get a quarter. */
const KEPT_FROM_CLIENTS = 256

/** @throws OperatorError where the engine would come to a standstill, and take the service with it */
export const requireOpenFiles = (most: number | undefined): void => {
  if (most !== undefined && most < LEAST)
    throw new OperatorError(
      `the limit of open files is ${most}, and the embedded stores need ${LEAST}: raise it (ulimit -n)`,
    )
}

export interface MostConnections {
  readonly most: number
  /** Said of each connection that is closed because there were as many already. */
  readonly refused: () => void
}

const SAID_EVERY_MS = 60_000

/**
 * How many connections clients may have of so many files. Beyond all files the system would close them without a word to
 * this process, and the stores would be the next that cannot open any.
 */
export const connectionsOf = (
  files: number | undefined,
  log: Pick<Log, 'warn'>,
  now = () => performance.now(),
): MostConnections | undefined => {
  if (files === undefined || files === Infinity) return undefined
  const most = Math.max(files - KEPT_FROM_CLIENTS, Math.floor(files / 4))
  let [refused, saidAt] = [0, -Infinity]
  return {
    most,
    refused: () => {
      refused += 1
      if (now() - saidAt < SAID_EVERY_MS) return
      const should = 'close client connections, or raise the limit of open files (ulimit -n)'
      log.warn('connections.refused', { refused, most_connections: most, most_open_files: files, should })
      ;[refused, saidAt] = [0, now()]
    },
  }
}
