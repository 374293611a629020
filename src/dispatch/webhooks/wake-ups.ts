/** Wakes endpoints when something of theirs becomes due. Times are milliseconds since 1970. */
export interface WakeUps {
  /** Of two times for one endpoint the earlier one holds. */
  readonly at: (endpoint: string, time: number) => void
  readonly stop: () => void
}

/** A clock that jumps must not leave anybody asleep for long. */
const LONGEST_SLEEP_MS = 10_000

export const openWakeUps = (now: () => number, wake: (endpoint: string) => void): WakeUps => {
  const times = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let next = Infinity

  const ring = () => {
    const at = now()
    for (const [endpoint, time] of times)
      if (time <= at) {
        times.delete(endpoint)
        wake(endpoint)
      }
    let earliest = Infinity
    for (const time of times.values()) earliest = Math.min(earliest, time)
    set(earliest)
  }
  const set = (time: number) => {
    clearTimeout(timer)
    next = time
    if (time < Infinity) timer = setTimeout(ring, Math.min(Math.max(0, time - now()), LONGEST_SLEEP_MS))
  }

  return {
    at: (endpoint, time) => {
      const before = times.get(endpoint) ?? Infinity
      if (time < before) times.set(endpoint, time)
      if (time < next) set(time)
    },
    stop: () => {
      times.clear()
      set(Infinity)
    },
  }
}
