/**
 * Attempts that are likely to hang begin one at a time, with a rest in between. Those that begin together run out of time
 * together, and all that is then to be written and begun anew would stand before the messages of others.
 */
export interface Pace {
  readonly isResting: () => boolean
  /** One has begun. */
  readonly rest: () => void
  readonly stop: () => void
}

/** All slots for what hangs are taken anew within a second or so, and no attempt hangs for less. */
const REST_MS = 20

export const openPace = (onRested: () => void): Pace => {
  let timer: NodeJS.Timeout | undefined
  return {
    isResting: () => timer !== undefined,
    rest: () => {
      timer ??= setTimeout(() => {
        timer = undefined
        onRested()
      }, REST_MS).unref()
    },
    stop: () => clearTimeout(timer),
  }
}
