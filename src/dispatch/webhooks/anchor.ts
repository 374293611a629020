import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { EventStore, RecordedEvent } from '../../kernel/ports/event-store.js'
import { isInLog } from '../../kernel/follow-log.js'

interface Kept {
  readonly id: string
  readonly stream: string
  readonly revision: string
}

const KIND = 'log'
const KEY = 'last'

/** Keeps the last event that the state was folded from, which identifies the log of the state. */
export const openAnchor = (state: Pick<DispatcherState, 'get' | 'put'>) => {
  let last: RecordedEvent | undefined
  return {
    note: (event: RecordedEvent) => void (last = event),
    /** To be called before each commit. */
    settle: () => {
      if (last === undefined) return
      const { id, stream, revision } = last
      const kept: Kept = { id, stream, revision: String(revision) }
      state.put(KIND, KEY, kept)
      last = undefined
    },
    isIn: async (eventStore: Pick<EventStore, 'readStream'>): Promise<boolean> => {
      const kept = state.get(KIND, KEY) as Kept | undefined
      return kept === undefined || isInLog(eventStore, { ...kept, revision: BigInt(kept.revision) })
    },
  }
}
