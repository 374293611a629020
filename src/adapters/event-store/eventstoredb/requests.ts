import { randomUUID } from 'node:crypto'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { Expected, Position } from '../../../kernel/ports/event-store.js'
import type { SerialisedEvent } from '../serialise.js'

const { ReadReq } = streams
const { Options } = ReadReq
const EMPTY = new shared.Empty()
const utf8 = new TextEncoder()

const identifierOf = (stream: string) => new shared.StreamIdentifier().setStreamName(utf8.encode(stream))

const readOptions = (backwards: boolean) =>
  new Options()
    .setResolveLinks(false)
    .setNoFilter(EMPTY)
    .setUuidOption(new Options.UUIDOption().setString(EMPTY))
    .setReadDirection(backwards ? Options.ReadDirection.BACKWARDS : Options.ReadDirection.FORWARDS)

/** `from` is inclusive; from the first event, or backwards from the last, when absent. */
export const streamRequest = (
  stream: string,
  from: bigint | undefined,
  backwards: boolean,
  maxCount: number,
): streams.ReadReq => {
  const place = new Options.StreamOptions().setStreamIdentifier(identifierOf(stream))
  if (from !== undefined) place.setRevision(String(from))
  else if (backwards) place.setEnd(EMPTY)
  else place.setStart(EMPTY)
  return new ReadReq().setOptions(readOptions(backwards).setStream(place).setCount(String(maxCount)))
}

interface LogRange {
  /** Forwards inclusive, backwards and for a subscription exclusive; 0 is the start of the log. */
  readonly from?: Position | undefined
  /** Only events of these types. */
  readonly types?: ReadonlySet<string> | undefined
  readonly backwards?: boolean
  /** Absent for a subscription. */
  readonly maxCount?: number
}

export const logRequest = ({ from, types, backwards = false, maxCount }: LogRange): streams.ReadReq => {
  const options = readOptions(backwards).setAll(placeOf(from, backwards))
  if (maxCount === undefined) options.setSubscription(new Options.SubscriptionOptions())
  else options.setCount(String(maxCount))
  if (types !== undefined) options.setFilter(filterOf(types))
  return new ReadReq().setOptions(options)
}

/** Commit and prepare are the same for everything that is written over gRPC. */
const placeOf = (position: Position | undefined, backwards: boolean) => {
  const place = new Options.AllOptions()
  if (position === undefined || position === 0n)
    return backwards ? place.setEnd(EMPTY) : place.setStart(EMPTY)
  const text = String(position)
  return place.setPosition(new Options.Position().setCommitPosition(text).setPreparePosition(text))
}

const filterOf = (types: ReadonlySet<string>) =>
  new Options.FilterOptions()
    .setEventType(new Options.FilterOptions.Expression().setRegex(`^(?:${[...types].join('|')})$`))
    .setCount(EMPTY)
    .setCheckpointintervalmultiplier(1)

/** Larger than any revision of a stream. */
const LARGEST_REVISION = 2n ** 63n - 1n

/** Without a deadline, which would be a time by the clock of this machine: the server has its own limit. */
export const appendRequest = (
  stream: string,
  expected: Expected,
  events: readonly SerialisedEvent[],
): { readonly correlationId: string; readonly request: streams.BatchAppendReq } => {
  const correlationId = randomUUID()
  const options = new streams.BatchAppendReq.Options().setStreamIdentifier(identifierOf(stream))
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Google's own empty message is in a package of the client.
  if (expected === 'none') options.setNoStream(EMPTY)
  else options.setStreamPosition(String(expected > LARGEST_REVISION ? LARGEST_REVISION : expected))
  const request = new streams.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setOptions(options)
    .setProposedMessagesList(events.map(messageOf))
    .setIsFinal(true)
  return { correlationId, request }
}

const messageOf = ({ id, type, data, metadata }: SerialisedEvent) => {
  const message = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(id))
    .setData(utf8.encode(data))
    .setCustomMetadata(utf8.encode(metadata))
  message.getMetadataMap().set('type', type).set('content-type', 'application/json')
  return message
}
