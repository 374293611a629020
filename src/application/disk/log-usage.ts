import { projectOfStream } from '../../domain/access/visible.js'
import { erasedCallData } from '../../domain/calls/erased.js'
import { erasedFeedbackData } from '../../domain/feedback/erased.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
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

/** Its data are only parsed where they may matter, which takes most of the time. */
export interface MeasuredEvent extends Pick<RecordedEvent, 'type' | 'stream' | 'size' | 'recordedAt'> {
  /** When the client says that it happened. */
  readonly time: () => string | undefined
  /** Undefined if it is unreadable. */
  readonly data: () => JsonObject | undefined
  readonly mayNameBlobs: boolean
}

interface LogUsage {
  readonly add: (event: MeasuredEvent) => void
  readonly events: () => readonly EventsUsage[]
  /** By digest. A blob counts for the first event that names it. */
  readonly blobs: ReadonlyMap<string, BlobUse>
  /** Sizes of the events that may have content, and of the ones that a policy would erase. */
  readonly content: () => { readonly all: number; readonly erasable: number }
}

/** Ids, name of the stream, seal and entries in the indexes. */
const ROW_BYTES = 250
/** About. */
const METADATA_BYTES = 150

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

  const noteBlobs = (event: TypedData, project: string | undefined, isErasable: boolean) => {
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
      const hasContent = cutoff !== undefined && WITH_CONTENT.has(event.type)
      if (hasContent) content.all += event.size
      const isOld = hasContent && timeOf(event) < cutoff.getTime()
      const data = isOld || event.mayNameBlobs ? event.data() : undefined
      if (data === undefined) return
      const typed = { type: event.type, data }
      const left = isOld && data['erased'] !== true ? leftOf(typed) : undefined
      if (left !== undefined) {
        content.erasable += event.size
        usage.erasable += Math.max(0, event.size - METADATA_BYTES - left)
      }
      if (event.mayNameBlobs) noteBlobs(typed, project, left !== undefined)
    },
    events: () => [...usages.values()],
    blobs,
    content: () => content,
  }
}

type TypedData = Pick<RecordedEvent, 'type' | 'data'>

/** Length of the data that an erasure leaves; undefined for an event without content. */
const leftOf = ({ type, data }: TypedData): number | undefined => {
  const left = erasedCallData(type, data) ?? erasedFeedbackData(type, data)
  return left && JSON.stringify(left).length
}

/** An end counts by its own time, because its start may be anywhere in the log. */
const timeOf = ({ recordedAt, time }: MeasuredEvent): number => {
  const at = time()
  return at === undefined ? recordedAt.getTime() : Date.parse(at)
}

/** The time in the data of an event of a call. */
export const timeIn = (data: JsonObject): string | undefined => {
  for (const holder of [data, data['start'], data['end']]) {
    const time = isJsonObject(holder) ? (holder['started_at'] ?? holder['ended_at']) : undefined
    if (typeof time === 'string') return time
  }
  return undefined
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

const WITH_CONTENT: ReadonlySet<string> = new Set(
  Object.keys(KINDS).filter((type) => KINDS[type]!.startsWith('content')),
)

const kindOf = ({ type, data }: TypedData): string => {
  if (isJsonObject(data['manifest'])) return 'manifests of artifacts'
  return KINDS[type] ?? 'objects, tables and others'
}
