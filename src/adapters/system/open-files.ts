import { readFileSync } from 'node:fs'

const LIMIT = /^Max open files +(\d+|unlimited)/mu

/** How many files and connections this process may have open at once; undefined where the system does not say. */
export const mostOpenFiles = (path = '/proc/self/limits'): number | undefined => {
  try {
    const most = LIMIT.exec(readFileSync(path, 'utf8'))?.[1]
    return most === undefined ? undefined : most === 'unlimited' ? Infinity : Number(most)
  } catch {
    return undefined
  }
}
