import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Whether a server responds to pings, which are sent apart from the statements. */
export interface Liveness {
  /** Why it does not respond; undefined while it does. */
  readonly away: () => string | undefined
  /** Aborted when the server stops responding, to end the statements in flight. */
  readonly signal: () => AbortSignal
  /** Resolves when the current ping ends. */
  readonly stop: () => Promise<void>
}

/** The interval of pings in milliseconds, and the shorter one after a ping that failed. */
const INTERVALS = { everyMs: 3000, againMs: 1000 }

/**
 * Pings the server repeatedly, to tell a server that is away from a statement that takes long. Two pings in a row must
 * fail, because one may be late while this process is busy.
 */
export const watch = (ask: () => Promise<string | undefined>, { everyMs, againMs } = INTERVALS): Liveness => {
  const stopping = new AbortController()
  let away: string | undefined
  let asked = forMany()

  const pause = (milliseconds: number) =>
    sleep(milliseconds, true, { signal: stopping.signal, ref: false }).catch(() => false)

  const watching = async () => {
    let unanswered = 0
    while (await pause(unanswered > 0 ? againMs : everyMs)) {
      const reason = await ask()
      unanswered = reason === undefined ? 0 : unanswered + 1
      if (unanswered === 1) continue
      away = reason
      if (reason === undefined) continue
      const before = asked
      asked = forMany()
      before.abort()
    }
  }
  const watched = watching()

  return {
    away: () => away,
    signal: () => asked.signal,
    stop: () => {
      stopping.abort()
      return watched
    },
  }
}

/** Every statement in flight listens to it. */
const forMany = (): AbortController => {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
