import { catalogue } from '../../domain/catalogue.js'
import { mayRead, mayReadFrom, projectOfStream, visibleData } from '../../domain/access/visible.js'
import { isErased, sealToCopy } from '../../kernel/event-seal.js'
import { entityOf } from '../../kernel/ids.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Principal } from '../principal.js'
import type { EventSeal } from './seals.js'

/** Limits of one response that searches the log: scanned events and their characters. */
export const MAX_SCANNED = 20_000
const MAX_CHARACTERS = 32 * 1024 * 1024

interface EventsRequest {
  readonly order: 'asc' | 'desc'
  readonly after: Position
  /** Exclusive; absent for the end of the log. */
  readonly before: Position | undefined
  readonly head: Position
  readonly stream: string | undefined
  readonly types: ReadonlySet<string> | undefined
  readonly project: string | undefined
  /** The id of a thing of the project or its team, as the names of streams have it. Only with `project`. */
  readonly object: string | undefined
  readonly actor: string | undefined
  readonly limit: number | undefined
  /** Reads the events with what a copy needs of their seals. */
  readonly sealOf?: ((event: RecordedEvent) => EventSeal | undefined) | undefined
}

type Reads = Pick<EventStore, 'readAll' | 'readBackwards' | 'readStream'>

/** The events that the principal may read. Where it stops at its limits, the last is the position to continue from. */
export async function* readableEvents(
  eventStore: Reads,
  request: EventsRequest,
  principal: Principal,
): AsyncGenerator<RecordedEvent | Position> {
  const { order, after, before, head, stream, object, limit = Infinity, sealOf } = request
  // A stream that the principal may not read looks the same as a missing one.
  if (stream !== undefined && !mayReadFrom(principal, stream)) return
  const isSearch = order === 'desc' || request.project !== undefined || request.actor !== undefined
  const isBounded = stream === undefined && object === undefined && (isSearch || !principal.administrator)
  const isBeyond = (position: Position) => position > head || (before !== undefined && position >= before)
  const isWanted = wantedBy(request)
  let left = limit
  let scanned = 0
  let characters = 0
  let last = after
  for await (const event of eventsOf(eventStore, request)) {
    const { position, size } = event
    if (order === 'asc' ? isBeyond(position) : position <= after) return
    if (order === 'asc' ? position <= after : isBeyond(position)) continue
    if (isBounded && (scanned === MAX_SCANNED || characters > MAX_CHARACTERS)) {
      yield last
      return
    }
    scanned += 1
    characters += size
    last = position
    if (!isWanted(event) || !mayRead(principal, event)) continue
    const data = visibleData(principal, event)
    const sealed = sealOf?.(event)
    const seal = sealed && sealToCopy(Buffer.concat([sealed.salt, sealed.digest]))
    // With the salt, they could guess what they may not see.
    const mayHaveSeal = data === event.data || (seal !== undefined && isErased(seal))
    yield { ...event, data, seal: mayHaveSeal ? seal : undefined }
    left -= 1
    if (left === 0) return
  }
}

const eventsOf = (eventStore: Reads, request: EventsRequest): AsyncIterable<RecordedEvent> => {
  const { order, after, before, stream, types, project, object, sealOf } = request
  const backwards = order === 'desc'
  const options = { withUnreadable: true, withSeals: sealOf !== undefined }
  const ofStream = (name: string) => eventStore.readStream(name, { ...options, backwards })
  if (stream !== undefined) return ofStream(stream)
  if (project !== undefined && object !== undefined)
    return merged(streamsOf(project, object).map(ofStream), backwards)
  return backwards
    ? eventStore.readBackwards(types, { ...options, before })
    : eventStore.readAll({ ...options, after })
}

const wantedBy =
  ({ stream, types, project, object, actor }: EventsRequest) =>
  ({ type, stream: name, data, metadata }: RecordedEvent): boolean =>
    types?.has(type) !== false &&
    (actor === undefined || metadata.actor === actor) &&
    (project === undefined ||
      projectOfStream(name) === project ||
      data['project_id'] === project ||
      ((object ?? stream) !== undefined && data['team'] === entityOf(project)))

const STREAMS = catalogue.flatMap(({ stream }) => stream.split(', '))

/** The streams that a thing of a project, or of its team, may have, by the names in the catalogue. */
const streamsOf = (project: string, object: string): readonly string[] =>
  STREAMS.map((pattern) =>
    pattern.replace('<entity>/<project>', () => project).replace('<team>', entityOf(project)),
  )
    .filter((pattern) => pattern.includes('<'))
    .map((pattern) => pattern.replace(/<.*>/, () => object))

/** The events of several streams in the order of the log, or backwards. */
async function* merged(
  streams: readonly AsyncIterable<RecordedEvent>[],
  backwards: boolean,
): AsyncGenerator<RecordedEvent> {
  const readers = streams.map((stream) => stream[Symbol.asyncIterator]())
  try {
    let heads = await Promise.all(readers.map(headOf))
    for (;;) {
      heads = heads.filter(({ event }) => event !== undefined)
      const [first] = heads.toSorted((one, other) => (isBefore(one, other) !== backwards ? -1 : 1))
      if (first?.event === undefined) return
      yield first.event
      heads[heads.indexOf(first)] = await headOf(first.reader)
    }
  } finally {
    for (const reader of readers) await reader.return?.()
  }
}

interface Head {
  readonly reader: AsyncIterator<RecordedEvent>
  readonly event: RecordedEvent | undefined
}

const headOf = async (reader: AsyncIterator<RecordedEvent>): Promise<Head> => {
  const next = await reader.next()
  return { reader, event: next.done === true ? undefined : next.value }
}

const isBefore = (one: Head, other: Head): boolean =>
  (one.event?.position ?? 0n) < (other.event?.position ?? 0n)
