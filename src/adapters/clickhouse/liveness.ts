import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Whether a server answers at all, asked beside the statements. */
export interface Liveness {
  /** Why it does not answer; undefined while it does. */
  readonly away: () => string | undefined
  /** Aborted when it turns out that nobody answers what is asked now. */
  readonly signal: () => AbortSignal
  /** Resolves when the question that is under way is answered. */
  readonly stop: () => Promise<void>
}

/** How often it is asked, in milliseconds, and after an answer that did not come. */
const INTERVALS = { everyMs: 3000, againMs: 1000 }

/**
 * Asks again and again whether the server is there. A statement may be silent for long while it works: whether somebody
 * still works on it is told by this question, not by the statement's own time-out. One answer that comes late says
 * little, since this process may have been busy itself; two do.
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
