import { EventEmitter } from 'node:events'
import { conflict, deleted, type ExpectedOnTheWire, type Refused } from './refusals.js'

/** An event as it came over the wire. */
export interface ProposedEvent {
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

export interface StoredEvent extends ProposedEvent {
  readonly stream: string
  readonly revision: number
  readonly position: number
  /** Milliseconds since 1970. */
  readonly created: number
}

export interface Proposal {
  readonly stream: string
  readonly expected: ExpectedOnTheWire
  readonly events: readonly ProposedEvent[]
}

export interface Accepted {
  readonly revision: number
  /** Absent for a repeat that was recognised. */
  readonly position: number | undefined
}

/** A line of what a log keeps: an append, or the end of a stream. */
export type LogEntry =
  | { readonly kind: 'append'; readonly stream: string; readonly events: readonly StoredEvent[] }
  | { readonly kind: 'delete' | 'tombstone'; readonly stream: string }

interface Stream {
  readonly events: StoredEvent[]
  /** Events before it are hidden; a soft delete sets it to the next revision. */
  visibleFrom: number
  tombstoned: boolean
}

/** How many event ids are remembered for appends that name no revision; lost with the process. */
const REMEMBERED_IDS = 10_000

/**
 * The log of the double. Positions are offsets with gaps, so that code that does arithmetic with them fails. Announces
 * `appended` after each append.
 */
export class DoubleLog extends EventEmitter {
  readonly all: StoredEvent[] = []
  private readonly streams = new Map<string, Stream>()
  private readonly recent = new Map<string, StoredEvent>()
  private next = 100

  constructor(private readonly keep: (entry: LogEntry) => void = () => undefined) {
    super()
    this.setMaxListeners(0)
  }

  /** Takes up what an earlier process kept. */
  restore(entries: Iterable<LogEntry>): void {
    for (const entry of entries) {
      const stream = this.streamOf(entry.stream)
      if (entry.kind === 'append') for (const event of entry.events) this.add(stream, event)
      else this.end(entry.kind, stream)
    }
  }

  /** As a restarted server: repeats of appends without a revision are no longer recognised. */
  forgetIds(): void {
    this.recent.clear()
  }

  /** Events of a stream that can be read; undefined where there is none. */
  read(name: string): readonly StoredEvent[] | undefined {
    const stream = this.streams.get(name)
    if (stream?.tombstoned) throw deleted(name)
    const visible = stream?.events.slice(stream.visibleFrom)
    return visible?.length ? visible : undefined
  }

  append({ stream: name, expected, events }: Proposal): Accepted | Refused {
    const stream = this.streamOf(name)
    if (stream.tombstoned) return deleted(name)
    const last = stream.events.length - 1
    const isThere = last >= stream.visibleFrom
    const repeat = this.repeatOf(name, stream, expected, events)
    if (repeat !== undefined) return repeat
    const partly = typeof expected === 'string' && events.some(({ id }) => this.recent.has(`${name} ${id}`))
    const isMet =
      expected === 'any' ||
      (expected === 'no_stream' && !isThere) ||
      (expected === 'stream_exists' && isThere) ||
      expected === BigInt(last)
    if (!isMet || partly) return conflict(name, expected, last < 0 ? undefined : last)
    const stored = events.map((event, index): StoredEvent => {
      const place = { stream: name, revision: last + 1 + index, position: this.nextPosition(event) }
      return { ...event, ...place, created: Date.now() }
    })
    this.keep({ kind: 'append', stream: name, events: stored })
    for (const event of stored) {
      this.add(stream, event)
      this.remember(event)
    }
    this.emit('appended')
    return { revision: last + events.length, position: stored.at(-1)?.position }
  }

  delete(kind: 'delete' | 'tombstone', name: string, expected: ExpectedOnTheWire): Refused | undefined {
    const stream = this.streamOf(name)
    if (stream.tombstoned) return deleted(name)
    const last = stream.events.length - 1
    if (typeof expected === 'bigint' && expected !== BigInt(last))
      return conflict(name, expected, last < 0 ? undefined : last)
    this.keep({ kind, stream: name })
    this.end(kind, stream)
    return undefined
  }

  /** As `$maxCount`, `$maxAge` or `$tb` do. */
  hideBefore(name: string, revision: number): void {
    this.streamOf(name).visibleFrom = revision
  }

  /** Removes the events of a stream from the log, as a scavenge does after its deletion. */
  scavenge(name: string): void {
    const kept = this.all.filter(({ stream }) => stream !== name)
    this.all.splice(0, this.all.length, ...kept)
  }

  private streamOf(name: string): Stream {
    const stream = this.streams.get(name) ?? { events: [], visibleFrom: 0, tombstoned: false }
    this.streams.set(name, stream)
    return stream
  }

  /** After an exact revision a repeat is recognised for ever, otherwise only by remembered ids. */
  private repeatOf(
    name: string,
    { events: stored }: Stream,
    expected: ExpectedOnTheWire,
    events: readonly ProposedEvent[],
  ): Accepted | undefined {
    const first =
      expected === 'no_stream' ? 0 : typeof expected === 'bigint' ? Number(expected) + 1 : undefined
    const places = events.map(({ id }, index) =>
      first === undefined ? this.recent.get(`${name} ${id}`) : stored[first + index],
    )
    const last = places.at(-1)
    const isRepeat = last !== undefined && events.every(({ id }, index) => places[index]?.id === id)
    return isRepeat ? { revision: last.revision, position: undefined } : undefined
  }

  private nextPosition({ data, metadata }: ProposedEvent): number {
    const position = this.next
    this.next += 37 + data.length + metadata.length
    return position
  }

  private add(stream: Stream, event: StoredEvent): void {
    stream.events.push(event)
    this.all.push(event)
    this.next = Math.max(this.next, event.position + 37)
  }

  private remember(event: StoredEvent): void {
    this.recent.set(`${event.stream} ${event.id}`, event)
    if (this.recent.size <= REMEMBERED_IDS) return
    const [oldest] = this.recent.keys()
    if (oldest !== undefined) this.recent.delete(oldest)
  }

  private end(kind: 'delete' | 'tombstone', stream: Stream): void {
    if (kind === 'tombstone') stream.tombstoned = true
    stream.visibleFrom = stream.events.length
  }
}
