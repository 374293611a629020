import { Metadata, status, type ServiceError } from '@grpc/grpc-js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import statuses from '@eventstore/db-client/generated/status_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ProposedEvent, StoredEvent } from './log.js'
import { Conflict, type ExpectedOnTheWire, type Refused } from './refusals.js'

const TICKS_PER_MS = 10_000n
/** What servers give for a position that they do not know. */
const NO_POSITION = '18446744073709551615'

export const nameOf = (identifier: shared.StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8')

export const identifierOf = (name: string): shared.StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(new Uint8Array(Buffer.from(name, 'utf8')))

/** A UUID in either of its two forms. */
export const uuidOf = (uuid: shared.UUID | undefined): string => {
  const structured = uuid?.getStructured()
  if (structured === undefined) return uuid?.getString() ?? ''
  const half = (bits: string) => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0')
  const hex = half(structured.getMostSignificantBits()) + half(structured.getLeastSignificantBits())
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

export const uuidTo = (uuid: string): shared.UUID => new shared.UUID().setString(uuid)

type ProposedMessage = streams.AppendReq.ProposedMessage | streams.BatchAppendReq.ProposedMessage

export const proposedOf = (message: ProposedMessage): ProposedEvent => ({
  id: uuidOf(message.getId()),
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
})

const encoded = new WeakMap<StoredEvent, Buffer>()

/** Encoded once, because benches share the CPUs with the double. */
export const readEventOf = (event: StoredEvent): Buffer => {
  const found = encoded.get(event) ?? Buffer.from(eventResponse(event, true).serializeBinary())
  encoded.set(event, found)
  return found
}

export const eventResponse = (event: StoredEvent, withPosition: boolean): streams.ReadResp => {
  const position = withPosition ? String(event.position) : NO_POSITION
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(uuidTo(event.id))
    .setStreamIdentifier(identifierOf(event.stream))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(event.data)
    .setCustomMetadata(event.metadata)
  recorded.getMetadataMap().set('type', event.type)
  recorded.getMetadataMap().set('content-type', event.contentType)
  recorded.getMetadataMap().set('created', String(BigInt(event.created) * TICKS_PER_MS))
  const read = new streams.ReadResp.ReadEvent().setEvent(recorded)
  if (withPosition) read.setCommitPosition(position)
  else read.setNoPosition(new shared.Empty())
  return new streams.ReadResp().setEvent(read)
}

/** A refusal as the batched append answers it: a status whose details name the type of what is in them. */
export const statusOf = (refused: Refused | 'timeout'): statuses.Status => {
  if (refused === 'timeout') return statusWith('Timeout', new shared.Timeout().serializeBinary())
  if (!(refused instanceof Conflict)) {
    const gone = new shared.StreamDeleted().setStreamIdentifier(identifierOf(refused.stream))
    return statusWith('StreamDeleted', gone.serializeBinary())
  }
  const { expected, actual } = refused
  const wrong = new shared.WrongExpectedVersion()
  if (actual !== undefined) wrong.setCurrentStreamRevision(String(actual))
  if (typeof expected === 'bigint') wrong.setExpectedStreamPosition(String(expected))
  const empty = [
    ...(actual === undefined ? [2] : []),
    ...(typeof expected === 'bigint' ? [] : [{ any: 4, stream_exists: 5, no_stream: 6 }[expected]]),
  ].map((number) => field(number, NOTHING))
  return statusWith('WrongExpectedVersion', Buffer.concat([wrong.serializeBinary(), ...empty]))
}

/** Google's own empty message, whose class lies in a package that only the client knows. */
const NOTHING = new Uint8Array()

const ALREADY_EXISTS = 6

/** Written byte by byte, because the class of `Any` lies in that package too. */
const statusWith = (type: string, value: Uint8Array): statuses.Status => {
  const url = Buffer.from(`type.googleapis.com/event_store.client.${type}`)
  const details = Buffer.concat([field(1, url), field(2, value)])
  return statuses.Status.deserializeBinary(
    new Uint8Array(
      Buffer.concat([Buffer.from([0x08, ALREADY_EXISTS]), field(2, Buffer.from(type)), field(3, details)]),
    ),
  )
}

const field = (number: number, value: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(value.length)]), value])

const varint = (value: number): readonly number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]

/** A refusal as a gRPC error: the kind is in the trailer `exception`. */
export const errorOf = (refused: Refused): Partial<ServiceError> => {
  const metadata = new Metadata()
  metadata.set('stream-name', refused.stream)
  if (refused instanceof Conflict) {
    metadata.set('exception', 'wrong-expected-version')
    metadata.set('expected-version', expectedNumber(refused.expected))
    metadata.set('actual-version', String(refused.actual ?? -1))
  } else metadata.set('exception', 'stream-deleted')
  return { code: status.FAILED_PRECONDITION, details: refused.message, metadata }
}

export const notLeaderError = (leaderPort: number): Partial<ServiceError> => {
  const metadata = new Metadata()
  metadata.set('exception', 'not-leader')
  metadata.set('leader-endpoint-host', '127.0.0.1')
  metadata.set('leader-endpoint-port', String(leaderPort))
  return { code: status.NOT_FOUND, details: 'not the leader', metadata }
}

const expectedNumber = (expected: ExpectedOnTheWire): string =>
  typeof expected === 'bigint'
    ? String(expected)
    : { any: '-2', no_stream: '-1', stream_exists: '-4' }[expected]
