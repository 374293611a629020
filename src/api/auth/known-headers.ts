import type { Principal } from '../principal.js'

/** One key can be sent in many forms, such as with any user name: so many headers are remembered, then all forgotten. */
const MAX_HEADERS = 10_000

/**
 * Whom an `Authorization` header stands for, without reading and hashing it for each request. Only valid ones are
 * remembered, so that guesses do not fill the memory; every change of the directory empties it, so that none outlives
 * its right.
 */
export const knownHeaders = (
  version: () => bigint,
  principalOf: (authorization: string) => Principal | undefined,
) => {
  const known = new Map<string, Principal>()
  let asOf = version()

  return (authorization: string | undefined): Principal | undefined => {
    if (authorization === undefined) return undefined
    if (version() !== asOf || known.size >= MAX_HEADERS) {
      known.clear()
      asOf = version()
    }
    const remembered = known.get(authorization)
    if (remembered !== undefined) return remembered
    const principal = principalOf(authorization)
    if (principal !== undefined) known.set(authorization, principal)
    return principal
  }
}
