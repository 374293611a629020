/**
 * Endpoints that may have something due, each in its turn. Whoever is not ready is passed over and keeps its place;
 * whoever has nothing to do leaves, until it is woken.
 */
export interface Rotation {
  readonly add: (endpoint: string) => void
  readonly leave: (endpoint: string) => void
  /** Who was served goes to the end. */
  readonly served: (endpoint: string) => void
  /** In the order of their turns. */
  readonly inTurn: () => Iterable<string>
}

export const openRotation = (): Rotation => {
  const endpoints = new Set<string>()
  return {
    add: (endpoint) => void endpoints.add(endpoint),
    leave: (endpoint) => void endpoints.delete(endpoint),
    served: (endpoint) => {
      endpoints.delete(endpoint)
      endpoints.add(endpoint)
    },
    inTurn: () => endpoints.values(),
  }
}

/** Of four messages three are new ones, as long as there are both: neither a backlog nor new ones hold the others up. */
export const prefersRetries = (sentBefore: number): boolean => sentBefore % 4 === 3
