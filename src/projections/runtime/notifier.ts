export interface Notifier {
  readonly notify: () => void
  /** Resolves at the next notification. */
  readonly next: () => Promise<void>
}

export const notifier = (): Notifier => {
  let resolve: () => void = () => undefined
  let next = new Promise<void>((done) => (resolve = done))
  return {
    next: () => next,
    notify: () => {
      resolve()
      next = new Promise<void>((done) => (resolve = done))
    },
  }
}
