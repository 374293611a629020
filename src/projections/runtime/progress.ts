import type { Position } from '../../domain/ports/event-store.js'

interface Waiter {
  readonly position: Position
  readonly done: (reached: boolean) => void
}

/** How far a projector has come, and who waits for it to come further. */
export const progressFrom = (start: Position, onWait: () => void) => {
  let reached = start
  let waiters: Waiter[] = []

  return {
    reached: (): Position => reached,
    someoneWaits: (): boolean => waiters.length > 0,
    advance(position: Position): void {
      if (position > reached) reached = position
      if (waiters.length === 0) return
      const satisfied = waiters.filter((waiter) => waiter.position <= reached)
      waiters = waiters.filter((waiter) => waiter.position > reached)
      for (const { done } of satisfied) done(true)
    },
    /** True once the position is reached, false if that takes longer. */
    wait(position: Position, timeoutMs: number): Promise<boolean> {
      if (position <= reached) return Promise.resolve(true)
      return new Promise((resolve) => {
        const waiter: Waiter = {
          position,
          done: (isReached) => {
            clearTimeout(timer)
            resolve(isReached)
          },
        }
        const timer = setTimeout(() => {
          waiters = waiters.filter((other) => other !== waiter)
          resolve(false)
        }, timeoutMs)
        waiters.push(waiter)
        onWait()
      })
    },
  }
}
