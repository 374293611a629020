import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { EventStore } from '../../kernel/ports/event-store.js'

/** Who created and last changed something, and when. */
export interface Authorship {
  readonly created_at: Instant | null
  readonly created_by: string | null
  readonly updated_at: Instant | null
  readonly updated_by: string | null
}

const UNKNOWN: Authorship = { created_at: null, created_by: null, updated_at: null, updated_by: null }

/** Events that change nothing. */
const NO_CHANGES = new Set(['TestSent', 'WebhookReleased', 'WebhookFailing'])

/** Read from the first and the last event of a stream; unknown without events. */
export const authorshipOf = async (
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readStream'> },
  stream: string,
): Promise<Authorship> => {
  for await (const first of eventStore.readStream(stream, { limit: 1 }))
    for await (const last of eventStore.readStream(stream, { backwards: true })) {
      if (NO_CHANGES.has(last.type)) continue
      return {
        created_at: instantOf(first.recordedAt),
        created_by: first.metadata.actor,
        updated_at: instantOf(last.recordedAt),
        updated_by: last.metadata.actor,
      }
    }
  return UNKNOWN
}
