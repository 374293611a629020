import { fieldsFor } from '../../domain/webhooks/automations/condition-fields.js'
import type { PastDecision } from '../../domain/webhooks/automations/matching/past-decisions.js'
import type { AutomationVersion } from '../../domain/webhooks/automations/state.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { eventAt } from './find-event.js'
import { judgeWithVersion, type ReplayPorts } from './replay.js'

export interface MatchedEvent {
  readonly event: RecordedEvent
  readonly decision: PastDecision
}

export interface NewestMatch {
  /** Undefined if none was found in time. */
  readonly newest: MatchedEvent | undefined
  /** Matches since the given time. */
  readonly matches: number
  /** Whether all events since then were evaluated, and older ones until one matched. */
  readonly isComplete: boolean
  /** When the oldest evaluated event was recorded; undefined if there was none. */
  readonly searchedFrom: Date | undefined
}

const CHUNK = 200
export const MAX_MS = 200
const MAX_FAILED = 2000

/** The ends of the newest failed calls before a position, newest first; undefined if the read model is behind. */
export type FailedEnds = (before: Position, limit: number) => Promise<readonly Position[] | undefined>

/**
 * Searches backwards for the newest event that an automation would fire for, and counts its matches since a time. Ends
 * after `maxMs`. Failed calls that are older than the searched events come from the read model, for as long again.
 */
export const findNewestMatch = async (
  ports: ReplayPorts,
  version: AutomationVersion,
  since: Date,
  maxMs = MAX_MS,
  failedEnds?: FailedEnds,
): Promise<NewestMatch> => {
  const began = performance.now()
  let newest: MatchedEvent | undefined
  let matches = 0
  let searchedFrom: Date | undefined
  const evaluate = async (newestFirst: readonly RecordedEvent[]) => {
    // Windows need the order of the log, which holds inside a chunk.
    const judge = judgeWithVersion(ports, version)
    let last: MatchedEvent | undefined
    for (const event of newestFirst.toReversed()) {
      const decision = await judge(event)
      if (decision?.verdict.matched !== true) continue
      last = { event, decision }
      if (event.recordedAt >= since) matches += 1
    }
    newest ??= last
    searchedFrom = newestFirst.at(-1)?.recordedAt ?? searchedFrom
  }

  const evaluateFailed = async (before: Position): Promise<boolean> => {
    const ends = await failedEnds?.(before, MAX_FAILED)
    if (ends === undefined) return false
    const until = performance.now() + Math.max(maxMs, MAX_MS)
    for (const end of ends) {
      const event = await eventAt(ports.eventStore, end)
      if (event === undefined) continue
      if (event.recordedAt < since && newest !== undefined) return true
      if (performance.now() > until) return false
      await evaluate([event])
    }
    return ends.length < MAX_FAILED
  }

  let chunk: RecordedEvent[] = []
  const types = new Set(fieldsFor(version.content.event.type).sources)
  for await (const event of ports.eventStore.readBackwards(types)) {
    const isOlder = event.recordedAt < since
    if (isOlder && newest !== undefined && chunk.length === 0)
      return { newest, matches, isComplete: true, searchedFrom }
    chunk.push(event)
    if (chunk.length < CHUNK) continue
    await evaluate(chunk)
    chunk = []
    if (isOlder && newest !== undefined) return { newest, matches, isComplete: true, searchedFrom }
    if (performance.now() - began <= maxMs) continue
    const isComplete = await evaluateFailed(event.position)
    return { newest, matches, isComplete, searchedFrom }
  }
  await evaluate(chunk)
  return { newest, matches, isComplete: true, searchedFrom }
}
