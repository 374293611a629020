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
  const waiting = new Set<() => void>()
  const wakeAll = () => {
    for (const wake of [...waiting]) wake()
  }

  return {
    count: () => commits,
    announce: () => {
      commits += 1
      wakeAll()
    },
    after: (seen, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          waiting.delete(wake)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        if (commits !== seen || closed || signal?.aborted === true) return resolve()
        waiting.add(wake)
        signal?.addEventListener('abort', wake)
      }),
    close: () => {
      closed = true
      wakeAll()
    },
    isClosed: () => closed,
  }
}
