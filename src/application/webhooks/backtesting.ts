import type { PastDecision } from '../../domain/webhooks/automations/matching/past-decisions.js'
import type { Figure } from '../../domain/webhooks/automations/matching/verdict.js'
import type { AutomationVersion } from '../../domain/webhooks/automations/state.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { predictFiring, type Judge, type ReplayPorts } from './retraced.js'

export interface FiredEvent {
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
 * A page reads at most `most` events, including those read for windows, but at least `least` of the range. Otherwise
 * reading the windows again would use up every page.
 */
const READS = { least: 1000, most: 50_000 }
/** Limits the fired events of a page, in characters. */
const MOST_SIZE = 8 * 1024 * 1024

/**
 * Finds the events of a range for which an automation fires, in log order. Stops at the limit or after reading many
 * events; `next` is then the position to continue after, with the same results as without the stop.
 */
export const replayAutomation = async (
  ports: ReplayPorts,
  judge: Judge,
  { after, to, limit }: Range,
  reads = READS,
): Promise<{
  readonly fired: readonly FiredEvent[]
  readonly next: Position | null
  readonly read: number
}> => {
  const firing = predictFiring(ports)
  const fired: FiredEvent[] = []
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
