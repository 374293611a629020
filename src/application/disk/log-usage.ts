import { projectOfStream } from '../../domain/access/visible.js'
import { erasedCallData } from '../../domain/calls/erased.js'
import { erasedFeedbackData } from '../../domain/feedback/erased.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { blobsNamedBy } from '../../kernel/spill/named-blobs.js'

/** What the events of one type take in the log of one project, or of all together. */
export interface EventsUsage {
  /** Undefined for events of no project. */
  readonly project: string | undefined
  readonly type: string
  events: number
  /** Of their rows and texts, before these are compressed. */
  size: number
  /** Part of `size` that a policy would erase. */
  erasable: number
}

export interface BlobUse {
  readonly project: string | undefined
  readonly kind: string
  /** Whether all events that name it would be erased. */
  isErasable: boolean
}

interface LogUsage {
  readonly add: (event: RecordedEvent) => void
  readonly events: () => readonly EventsUsage[]
  /** By digest. A blob counts for the first event that names it. */
  readonly blobs: ReadonlyMap<string, BlobUse>
  /** Characters of content, and of the part that a policy would erase. */
  readonly content: () => { readonly all: number; readonly erasable: number }
}

/** Ids, name of the stream, seal and entries in the indexes. */
const ROW_BYTES = 250

/** Adds up what events take, by project and type, and what a policy that erases content from before `cutoff` gives back. */
export const logUsage = (cutoff: Date | undefined): LogUsage => {
  const usages = new Map<string, EventsUsage>()
  const blobs = new Map<string, BlobUse>()
  const content = { all: 0, erasable: 0 }

  const usageOf = (project: string | undefined, type: string): EventsUsage => {
    const key = `${project ?? ''} ${type}`
    const known = usages.get(key)
    if (known !== undefined) return known
    const made = { project, type, events: 0, size: 0, erasable: 0 }
    usages.set(key, made)
    return made
  }

  const noteBlobs = (event: RecordedEvent, project: string | undefined, isErasable: boolean) => {
    for (const digest of blobsNamedBy(event)) {
      const known = blobs.get(digest)
      if (known === undefined) blobs.set(digest, { project, kind: kindOf(event), isErasable })
      else known.isErasable &&= isErasable
    }
  }

  return {
    add: (event) => {
      const project = projectOfStream(event.stream)
      const usage = usageOf(project, event.type)
      usage.events += 1
      usage.size += event.size + ROW_BYTES
      const erased = cutoff && contentOf(event)
      const isErasable = erased !== undefined && isBefore(event, cutoff!)
      if (erased !== undefined) content.all += erased
      if (isErasable) {
        content.erasable += erased
        usage.erasable += erased
      }
      noteBlobs(event, project, isErasable)
    },
    events: () => [...usages.values()],
    blobs,
    content: () => content,
  }
}

/** How much shorter an erasure makes the data; undefined for an event without content. */
const contentOf = ({ type, data, unreadable }: RecordedEvent): number | undefined => {
  if (unreadable !== undefined || data['erased'] === true) return undefined
  const left = erasedCallData(type, data) ?? erasedFeedbackData(type, data)
  return left && Math.max(0, jsonText(data).length - jsonText(left).length)
}

/** An end counts by its own time, because its start may be anywhere in the log. */
const isBefore = ({ data, recordedAt }: RecordedEvent, cutoff: Date): boolean => {
  const time = timeIn(data) ?? timeIn(data['start']) ?? timeIn(data['end'])
  return (time === undefined ? recordedAt.getTime() : Date.parse(time)) < cutoff.getTime()
}

const timeIn = (holder: Json | undefined): string | undefined => {
  if (!isJsonObject(holder)) return undefined
  const time = holder['started_at'] ?? holder['ended_at']
  return typeof time === 'string' ? time : undefined
}

const KINDS: Readonly<Record<string, string>> = {
  FileStored: 'files',
  RunFileStored: 'files of runs',
  CallStarted: 'content of calls',
  CallEnded: 'content of calls',
  ConflictingCallStartReported: 'content of calls',
  ConflictingCallEndReported: 'content of calls',
  FeedbackGiven: 'content of feedback',
}

const kindOf = ({ type, data }: Pick<RecordedEvent, 'type' | 'data'>): string => {
  if (isJsonObject(data['manifest'])) return 'manifests of artifacts'
  return KINDS[type] ?? 'objects, tables and others'
}
