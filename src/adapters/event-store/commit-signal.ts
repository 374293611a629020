/** Tells readers that wait at the end of the log that it has grown. */
export interface CommitSignal {
  /** How many commits were announced so far: read it before the log, then wait for `after` it. */
  count(): number
  announce(): void
  /** Resolves once there is a commit after `seen` (at once if there was), on abort and on close. */
  after(seen: number, signal: AbortSignal | undefined): Promise<void>
  close(): void
  isClosed(): boolean
}

export const commitSignal = (): CommitSignal => {
  let commits = 0
  let closed = false
  let waiting: (() => void)[] = []
  /** Those of readers that waited once; each is listened to once, however often its reader waits. */
  const listenedTo = new WeakSet<AbortSignal>()
  const wakeAll = () => {
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }

  return {
    count: () => commits,
    announce: () => {
      commits += 1
      wakeAll()
    },
    after: (seen, signal) =>
      new Promise((resolve) => {
        if (commits !== seen || closed || signal?.aborted === true) return resolve()
        waiting.push(resolve)
        if (signal === undefined || listenedTo.has(signal)) return
        listenedTo.add(signal)
        signal.addEventListener('abort', wakeAll, { once: true })
      }),
    close: () => {
      closed = true
      wakeAll()
    },
    isClosed: () => closed,
  }
}
