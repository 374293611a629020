import { Family } from './family.js'
import { microseconds } from './instant.js'
import { wellFormed } from './json.js'
import type { Operation, SentEnd, SentStart, UsageReporting } from './operations.js'
import type { Started } from './started.js'

interface Kept {
  start?: { sent: SentStart; traceId: string }
  end?: SentEnd
  deleted?: true
}

export interface Recorded {
  readonly calls: ReadonlyArray<Started>
  readonly reporting: UsageReporting
}

/** Sections 1 and 2: what stands after all operations. */
export const record = (operations: ReadonlyArray<Operation>): Recorded => {
  const kept = new Map<string, Kept>()
  let reporting: UsageReporting = 'auto'
  for (const operation of operations.map(wellFormed))
    switch (operation.kind) {
      case 'start':
        keepStart(kept, operation.start)
        break
      case 'end':
        keepEnd(kept, operation.end)
        break
      case 'delete':
        keepDelete(kept, operation.call_ids)
        break
      case 'reporting':
        reporting = operation.usage_reporting
        break
      case 'update':
        break
    }
  return { calls: startedCalls(kept), reporting }
}

const entryOf = (kept: Map<string, Kept>, id: string): Kept => {
  const entry = kept.get(id) ?? {}
  kept.set(id, entry)
  return entry
}

const keepStart = (kept: Map<string, Kept>, sent: SentStart): void => {
  const entry = entryOf(kept, sent.id)
  if (entry.deleted !== undefined || entry.start !== undefined) return
  entry.start = { sent, traceId: traceOf(kept, sent) }
}

const traceOf = (kept: Map<string, Kept>, sent: SentStart): string => {
  const explicit = text(sent.trace_id)
  const parentId = text(sent.parent_id)
  if (explicit !== null) return explicit
  if (parentId === null) return sent.id
  return kept.get(parentId)?.start?.traceId ?? sent.id
}

const keepEnd = (kept: Map<string, Kept>, sent: SentEnd): void => {
  const entry = entryOf(kept, sent.id)
  if (entry.deleted !== undefined || entry.end !== undefined) return
  entry.end = sent
}

/**
 * An id of which nothing is known deletes nothing, so a start that comes later stands. What came below a deleted call since
 * goes if that is deleted again.
 */
const keepDelete = (kept: Map<string, Kept>, ids: ReadonlyArray<string>): void => {
  const started = startedCalls(kept)
  const family = new Family(started)
  const below = started
    .filter(({ id }) => ids.includes(id))
    .flatMap((call) => family.withDescendants(call).map(({ id }) => id))
  for (const id of [...ids, ...below]) {
    const entry = kept.get(id)
    if (entry !== undefined) entry.deleted = true
  }
}

const startedCalls = (kept: ReadonlyMap<string, Kept>): ReadonlyArray<Started> =>
  [...kept].flatMap(([id, { start, end, deleted }]) =>
    start === undefined
      ? []
      : [
          {
            id,
            traceId: start.traceId,
            parentId: text(start.sent.parent_id),
            startedAt: microseconds(start.sent.started_at),
            start: start.sent,
            end,
            endedAt: end === undefined ? undefined : microseconds(end.ended_at),
            deleted: deleted !== undefined,
          },
        ],
  )

/** Absent, null and '' are the same for an optional string. */
export const text = (value: string | null | undefined): string | null =>
  value === '' ? null : (value ?? null)
