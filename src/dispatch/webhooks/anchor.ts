import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import { findAnchor } from '../../kernel/follow-log.js'

/** The last event that the state was folded from. Another log has another one in its place, or none. */
export interface Anchor {
  readonly note: (event: RecordedEvent) => void
  /** To be called before each commit. */
  readonly settle: () => void
  readonly isIn: (eventStore: Pick<EventStore, 'readStream'>) => Promise<boolean>
}

interface Kept {
  readonly id: string
  readonly stream: string
  readonly revision: string
}

const KIND = 'log'
const KEY = 'last'

export const openAnchor = (state: Pick<DispatcherState, 'get' | 'put'>): Anchor => {
  let last: RecordedEvent | undefined
  return {
    note: (event) => void (last = event),
    settle: () => {
      if (last === undefined) return
      const { id, stream, revision } = last
      const kept: Kept = { id, stream, revision: String(revision) }
      state.put(KIND, KEY, kept)
      last = undefined
    },
    isIn: async (eventStore) => {
      const kept = state.get(KIND, KEY) as Kept | undefined
      if (kept === undefined) return true
      return (await findAnchor(eventStore, { ...kept, revision: BigInt(kept.revision) })) !== undefined
    },
  }
}
