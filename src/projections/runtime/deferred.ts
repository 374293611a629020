export interface Deferred {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

export const deferred = (): Deferred => {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
