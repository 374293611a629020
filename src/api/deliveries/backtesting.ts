import type { PastDecision } from '../../domain/automation/matching/past-decisions.js'
import type { Figure } from '../../domain/automation/matching/verdict.js'
import type { AutomationVersion } from '../../domain/automation/state.js'
import type { Position, RecordedEvent } from '../../domain/ports/event-store.js'
import type { Deliveries } from './deliveries.js'
import { firingOf, type Judge } from './retraced.js'

/** An event that made an automation fire. */
export interface Fired {
  readonly event: RecordedEvent
  readonly retraced: PastDecision
  readonly version: AutomationVersion
  readonly figure: Figure | null
  readonly deliveryId: string
  readonly suppressed: 'loop' | null
}

interface Range {
  /** Exclusive. */
  readonly after: Position
  /** Inclusive. */
  readonly to: Position
  /** Firings at most. */
  readonly limit: number
}

/**
 * Events that a page reads: of the range at least so many, since what runs were before has to be read anew in each page,
 * and with all that no more than so many where that is enough.
 */
const READS = { least: 1000, most: 50_000 }
/** Characters of events that fired, which a page holds at once. */
const MOST_SIZE = 8 * 1024 * 1024

/**
 * What events of a range made fire, in log order. It ends early after as many as asked for, or after many events: `next`
 * is then the position behind which it goes on, as exactly as if it had not ended.
 */
export const replayed = async (
  ports: Pick<Deliveries['ports'], 'eventStore' | 'sha256' | 'compilePattern'>,
  judge: Judge,
  { after, to, limit }: Range,
  reads = READS,
): Promise<{ readonly fired: readonly Fired[]; readonly next: Position | null; readonly read: number }> => {
  const firing = firingOf(ports)
  const fired: Fired[] = []
  let read = 0
  let ofRange = 0
  let size = 0
  for await (const event of ports.eventStore.readAll({ after })) {
    if (event.position > to) break
    const retraced = await judge(event)
    ofRange += 1
    read += 1 + (retraced?.read ?? 0)
    if (retraced?.verdict.matched === true && retraced.version !== undefined) {
      const { version, verdict } = retraced
      const { deliveryId, suppressed } = await firing(event, retraced, version)
      if (deliveryId !== null) {
        fired.push({ event, retraced, version, figure: verdict.figure, deliveryId, suppressed })
        size += event.size
      }
    }
    if (event.position === to) break
    const isMuch = read >= reads.most && ofRange >= reads.least
    if (fired.length === limit || isMuch || size >= MOST_SIZE) return { fired, next: event.position, read }
  }
  return { fired, next: null, read }
}
