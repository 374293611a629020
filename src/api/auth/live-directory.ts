import { emptyDirectory, evolve, type Directory } from '../../domain/access/directory.js'
import { ACCESS_STREAM, type AccessEvent } from '../../domain/access/events.js'
import type { RecordedEvent } from '../../domain/ports/event-store.js'
import type { Ports } from '../../domain/ports/ports.js'

/** The directory as this process knows it: it follows the stream. */
export interface LiveDirectory {
  readonly now: () => Directory
  /** Changes with each change of the directory. */
  readonly version: () => bigint
  readonly take: (event: RecordedEvent) => void
  /** Reads what was written since the last time. */
  readonly refresh: () => Promise<void>
}

export const followDirectory = ({ eventStore }: Pick<Ports, 'eventStore'>): LiveDirectory => {
  const directory = emptyDirectory()
  let next = 0n
  const take = ({ type, data, revision }: RecordedEvent) => {
    // A refresh and the follower may read the same event.
    if (revision !== next) return
    evolve(directory, { type, data } as unknown as AccessEvent)
    next = revision + 1n
  }

  return {
    now: () => directory,
    version: () => next,

    take: (event) => {
      if (event.stream === ACCESS_STREAM) take(event)
    },

    refresh: async () => {
      for await (const event of eventStore.readStream(ACCESS_STREAM, { from: next })) take(event)
    },
  }
}
