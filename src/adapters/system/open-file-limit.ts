import { readFileSync } from 'node:fs'
import { OperatorError } from '../../kernel/ports/operator-error.js'

const LIMIT = /^Max open files +(\d+|unlimited)/mu

/** The limit of open files and connections; undefined if the system does not report one. */
export const openFileLimit = (path = '/proc/self/limits'): number | undefined => {
  try {
    const most = LIMIT.exec(readFileSync(path, 'utf8'))?.[1]
    return most === undefined ? undefined : most === 'unlimited' ? Infinity : Number(most)
  } catch {
    return undefined
  }
}

/** Measured: the embedded engine opens three files for each of its threads, and over a hundred at the start. */
const MINIMUM = 256

/** @throws OperatorError when the engine would hang, and the service with it */
export const requireOpenFiles = (limit: number | undefined): void => {
  if (limit !== undefined && limit < MINIMUM)
    throw new OperatorError(
      `the limit of open files is ${limit}, and the embedded stores need ${MINIMUM}: raise it (ulimit -n)`,
    )
}
