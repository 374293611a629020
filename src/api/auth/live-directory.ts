import { emptyDirectory, evolve, type Directory } from '../../domain/access/directory.js'
import { ACCESS_STREAM, type AccessEvent } from '../../domain/access/events.js'
import { principalOf } from '../../domain/access/look-ups.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { Principal } from '../principal.js'

/** The directory as this process knows it: it follows the stream, and answers for a key without folding anything. */
export interface LiveDirectory {
  readonly now: () => Directory
  /** Whom the key of this hash stands for, in O(1) once it was asked. */
  readonly principalOf: (hash: string) => Principal | undefined
  /** Reads what was written since the last time. */
  readonly refresh: () => Promise<void>
}

export const followDirectory = ({ eventStore }: Pick<Ports, 'eventStore'>): LiveDirectory => {
  let directory = emptyDirectory
  let next = 0n
  /** Only valid keys, so that guesses do not fill it; emptied by every change, so that none outlives its right. */
  const principals = new Map<string, Principal>()

  return {
    now: () => directory,

    principalOf: (hash) => {
      const known = principals.get(hash)
      if (known !== undefined) return known
      const principal = principalOf(directory, hash)
      if (principal !== undefined) principals.set(hash, principal)
      return principal
    },

    refresh: async () => {
      for await (const { type, data, revision } of eventStore.readStream(ACCESS_STREAM, { from: next })) {
        // Two refreshes may read the same events at once; each event counts when its turn comes, once.
        if (revision !== next) continue
        directory = evolve(directory, { type, data } as unknown as AccessEvent)
        next = revision + 1n
        principals.clear()
      }
    },
  }
}
