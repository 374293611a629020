interface TickDeps {
  readonly tick: () => void
  /** Whether a tick has nothing to do until the log grows. */
  readonly isIdle: () => boolean
  readonly onFailure: (error: unknown) => void
  readonly signal: AbortSignal
}

interface Ticks {
  /** The log has grown. */
  readonly noteProgress: () => void
  readonly stop: () => void
}

const TICK_MS = 1000
/** While idle and the log has not grown for `QUIET_AFTER_MS`, ticks only follow the clock and prune. */
const QUIET_TICK_MS = 30_000
/** Longer than the health of a webhook waits to be reported. */
const QUIET_AFTER_MS = 75_000

export const startTicks = ({ tick, isIdle, onFailure, signal }: TickDeps): Ticks => {
  let progressedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  let isQuiet = false
  let isStopped = false

  const scheduleTick = () => {
    clearTimeout(timer)
    if (isStopped || signal.aborted) return
    timer = setTimeout(
      () => {
        try {
          tick()
        } catch (error) {
          onFailure(error)
        }
        isQuiet = isIdle() && performance.now() - progressedAt > QUIET_AFTER_MS
        scheduleTick()
      },
      isQuiet ? QUIET_TICK_MS : TICK_MS,
    )
  }
  scheduleTick()

  return {
    noteProgress: () => {
      progressedAt = performance.now()
      if (!isQuiet) return
      isQuiet = false
      scheduleTick()
    },
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
