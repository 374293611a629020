import type { Log } from '../domain/ports/log.js'

/** Whether something fails at the moment, by what its last use came to. */
export interface FailingNow {
  /** `logged` stands in the log where it did not fail before. */
  readonly failed: (reason: string, logged: Readonly<Record<string, string>>) => void
  readonly succeeded: () => void
  /** Why the last use failed; undefined once one succeeds. */
  readonly reason: () => string | undefined
}

/** Logs each change under these names, and nothing in between. */
export const failingNow = (
  log: Pick<Log, 'error' | 'info'>,
  events: { readonly failed: string; readonly resumed: string },
): FailingNow => {
  let failing: string | undefined
  return {
    failed: (reason, logged) => {
      if (failing === undefined) log.error(events.failed, logged)
      failing = reason
    },
    succeeded: () => {
      if (failing !== undefined) log.info(events.resumed, {})
      failing = undefined
    },
    reason: () => failing,
  }
}
