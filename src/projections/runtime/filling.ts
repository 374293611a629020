import type { Position } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Projector } from './projector.js'

const LOG_EVERY_SECONDS = 5

/** While empty tables are filled from the log up to `target`: the progress, for the log, `/health` and refused reads. */
export const followFilling = (
  projector: Pick<Projector, 'reached'>,
  target: Position,
  log: Pick<Log, 'info'>,
): { readonly progress: () => string | undefined; readonly stop: () => void } => {
  const startedAt = performance.now()
  const isFilling = () => projector.reached() < target
  const note = (event: string) => {
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    log.info(event, { position: String(projector.reached()), target: String(target), seconds })
  }
  let seconds = 0
  // What is filled within the first second, such as the log of a service that was stopped at once, is not worth a line.
  const timer = setInterval(() => {
    if (!isFilling()) {
      clearInterval(timer)
      if (seconds > 0) note('projection.rebuilt')
    } else if (seconds % LOG_EVERY_SECONDS === 0) note('projection.rebuilding')
    seconds += 1
  }, 1000)
  timer.unref()
  if (!isFilling()) clearInterval(timer)
  return {
    progress: () =>
      isFilling()
        ? `the read models are being rebuilt from the log: position ${projector.reached()} of ${target}`
        : undefined,
    stop: () => clearInterval(timer),
  }
}
