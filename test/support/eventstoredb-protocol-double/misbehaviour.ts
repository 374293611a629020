/** How the double misbehaves; all off by default. Counts go down with each time. */
export interface Misbehaviour {
  /** Store this many appends and do not answer them. */
  swallowAnswers: number
  /** Neither store nor answer this many appends. */
  ignoreAppends: number
  /** Answer this many appends with a conflict, although they are stored. */
  conflictThoughStored: number
  /** Answer this many appends with a conflict at the true revision, and store nothing. */
  conflicts: number
  /** Answer this many appends that the server ran out of time. */
  timeouts: number
  /** Answer appends this much later, in milliseconds. */
  answerLateMs: number
  /** Serve this many appends and reads a second, one after another. */
  requestsPerSecond: number
  /** Read this many events a second, for all reads and subscriptions together. */
  eventsPerSecond: number
  /** Answer no read and no question for features. */
  muteReads: boolean
  /** The port of the leader, which appends are sent to; this node takes them when absent. */
  leaderPort: number | undefined
  /** Whether batched appends are offered. */
  batchAppend: boolean
  /** How often a subscription is told that it caught up. */
  caughtUp: 0 | 1 | 2
  /** Give reads of a stream no positions, as old servers do. */
  hidePositions: boolean
}

export const wellBehaved = (): Misbehaviour => ({
  swallowAnswers: 0,
  ignoreAppends: 0,
  conflictThoughStored: 0,
  conflicts: 0,
  timeouts: 0,
  answerLateMs: 0,
  requestsPerSecond: Infinity,
  eventsPerSecond: Infinity,
  muteReads: false,
  leaderPort: undefined,
  batchAppend: true,
  caughtUp: 1,
  hidePositions: false,
})

type Counted = 'swallowAnswers' | 'ignoreAppends' | 'conflictThoughStored' | 'conflicts' | 'timeouts'

/** Whether it is to happen now. */
export const takes = (misbehaviour: Misbehaviour, what: Counted): boolean => {
  if (misbehaviour[what] <= 0) return false
  misbehaviour[what] -= 1
  return true
}
