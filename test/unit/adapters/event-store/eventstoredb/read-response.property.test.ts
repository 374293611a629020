import assert from 'node:assert/strict'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import fc from 'fast-check'
import { readResponseOf } from '../../../../../src/adapters/event-store/eventstoredb/read-response.js'
import { identifierOf, uuidTo } from '../../../../support/eventstoredb-protocol-double/wire.js'

const { ReadResp } = streams
const text = fc.string({ unit: 'binary' }).map((given) => given.toWellFormed())
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const bytes = fc.uint8Array({ maxLength: 300 })
const read = (response: streams.ReadResp) => readResponseOf(Buffer.from(response.serializeBinary()))

describe('a response of EventStoreDB to a read', () => {
  it('decodes the fields that are used as the generated classes do', () =>
    fc.assert(
      fc.property(
        fc.record({ id: fc.uuid(), stream: text, type: text, contentType: text, other: text }),
        fc.record({ revision: uint64, position: uint64, created: uint64.map(String) }),
        fc.record({ metadata: bytes, data: bytes }),
        ({ other, ...texts }, numbers, contents) => {
          const recorded = new ReadResp.ReadEvent.RecordedEvent()
            .setId(uuidTo(texts.id))
            .setStreamIdentifier(identifierOf(texts.stream))
            .setStreamRevision(String(numbers.revision))
            .setPreparePosition('7')
            .setCommitPosition(String(numbers.position))
            .setCustomMetadata(contents.metadata)
            .setData(contents.data)
          recorded.getMetadataMap().set('type', texts.type).set('content-type', texts.contentType)
          recorded.getMetadataMap().set('created', numbers.created).set('other', other)
          const event = new ReadResp.ReadEvent().setEvent(recorded).setCommitPosition('9')
          const { data, metadata, ...rest } = read(new ReadResp().setEvent(event)).event!
          assert.deepEqual(rest, { ...texts, ...numbers })
          assert.deepEqual([...data, ...metadata], [...contents.data, ...contents.metadata])
        },
      ),
    ))

  it('tells the other responses apart', () => {
    const nothing = { event: undefined, checkpoint: undefined, isStreamNotFound: false, isCaughtUp: false }
    const checkpoint = new ReadResp.Checkpoint().setCommitPosition('12').setPreparePosition('13')
    assert.deepEqual(read(new ReadResp().setCheckpoint(checkpoint)), { ...nothing, checkpoint: 12n })
    assert.deepEqual(read(new ReadResp().setStreamNotFound(new ReadResp.StreamNotFound())), {
      ...nothing,
      isStreamNotFound: true,
    })
    assert.deepEqual(read(new ReadResp().setCaughtUp(new ReadResp.CaughtUp())), {
      ...nothing,
      isCaughtUp: true,
    })
    const confirmation = new ReadResp.SubscriptionConfirmation().setSubscriptionId('s')
    assert.deepEqual(read(new ReadResp().setConfirmation(confirmation)), nothing)
    // The target of a link that was deleted.
    assert.deepEqual(read(new ReadResp().setEvent(new ReadResp.ReadEvent())), nothing)
  })

  it('is refused when it is cut off', () => {
    const whole = new ReadResp().setCheckpoint(new ReadResp.Checkpoint().setCommitPosition('300'))
    const cut = Buffer.from(whole.serializeBinary()).subarray(0, -1)
    assert.throws(() => readResponseOf(cut), RangeError)
  })
})
