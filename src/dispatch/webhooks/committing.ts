import type { LogReading } from './log-reading.js'

const COMMIT_MS = 100
/** What an event that leads to hundreds leaves to be written before a commit, at once, would hold up all teams. */
const PORTION = 32
const REST_MS = 8
/** More may come than is written in portions. */
const MOST_PORTIONS = 64

/** Commits what was read again and again, until the function that is returned is called. */
export const committing = ({ commit }: Pick<LogReading, 'commit'>): (() => void) => {
  let timer: NodeJS.Timeout
  const next = (portions: number): void => {
    const isDone = commit(portions < MOST_PORTIONS ? PORTION : Infinity)
    timer = setTimeout(next, isDone ? COMMIT_MS : REST_MS, isDone ? 0 : portions + 1)
  }
  timer = setTimeout(next, COMMIT_MS, 0)
  return () => clearTimeout(timer)
}
