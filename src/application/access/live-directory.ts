import { emptyDirectory, evolve, type Directory } from '../../domain/access/directory.js'
import { ACCESS_STREAM, type AccessEvent } from '../../domain/access/events.js'
import type { Ports } from '../../kernel/ports/ports.js'

/** A directory that is updated from its stream. */
export interface LiveDirectory {
  readonly now: () => Directory
  /** Reads what was written since the last time. */
  readonly refresh: () => Promise<void>
}

export const followDirectory = ({ eventStore }: Pick<Ports, 'eventStore'>): LiveDirectory => {
  const directory = emptyDirectory()
  let next = 0n

  return {
    now: () => directory,

    refresh: async () => {
      for await (const { type, data, revision } of eventStore.readStream(ACCESS_STREAM, { from: next })) {
        // Concurrent refreshes read the same events: each event is applied once, in order.
        if (revision !== next) continue
        evolve(directory, { type, data } as unknown as AccessEvent)
        next = revision + 1n
      }
    },
  }
}
