import { readFileSync } from 'node:fs'

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
