/** Endpoints of a team that take turns among themselves: those that hang apart from the others. */
export interface Ring {
  readonly team: string
  readonly hangs: boolean
}

/**
 * Endpoints that may have something due, each ring in its turn and each of its endpoints in theirs. Whoever is not ready
 * is passed over and keeps its place; whoever has nothing to do leaves, until it is woken.
 */
export interface Rotation {
  /** An endpoint of another ring than before is from now on in that one. */
  readonly add: (endpoint: string, ring: Ring) => void
  readonly leave: (endpoint: string) => void
  /** Who was served goes to the end. */
  readonly served: (endpoint: string) => void
  /** In the order of their turns; rings that cannot be served are passed over as a whole. */
  readonly inTurn: (mayBeServed: (ring: Ring) => boolean) => Iterable<string>
}

interface Members extends Ring {
  readonly name: string
  readonly endpoints: Set<string>
}

export const openRotation = (): Rotation => {
  const rings = new Map<string, Members>()
  const ringOf = new Map<string, Members>()

  const leave = (endpoint: string) => {
    const ring = ringOf.get(endpoint)
    if (ring === undefined) return
    ringOf.delete(endpoint)
    ring.endpoints.delete(endpoint)
    if (ring.endpoints.size === 0) rings.delete(ring.name)
  }

  return {
    add: (endpoint, { team, hangs }) => {
      const name = `${hangs ? 'hangs' : 'answers'} ${team}`
      if (ringOf.get(endpoint)?.name === name) return
      leave(endpoint)
      const ring = rings.get(name) ?? { name, team, hangs, endpoints: new Set<string>() }
      ring.endpoints.add(endpoint)
      rings.set(name, ring)
      ringOf.set(endpoint, ring)
    },
    leave,
    served: (endpoint) => {
      const ring = ringOf.get(endpoint)
      if (ring === undefined) return
      ring.endpoints.delete(endpoint)
      ring.endpoints.add(endpoint)
      rings.delete(ring.name)
      rings.set(ring.name, ring)
    },
    inTurn: function* (mayBeServed) {
      for (const ring of rings.values()) if (mayBeServed(ring)) yield* ring.endpoints
    },
  }
}

/** Of four messages three are new ones, as long as there are both: neither a backlog nor new ones hold the others up. */
export const prefersRetries = (sentBefore: number): boolean => sentBefore % 4 === 3
