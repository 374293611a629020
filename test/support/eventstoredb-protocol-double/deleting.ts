import type { handleUnaryCall } from '@grpc/grpc-js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { DoubleLog } from './log.js'
import type { ExpectedOnTheWire } from './refusals.js'
import { errorOf, nameOf } from './wire.js'

type Options = streams.DeleteReq.Options | streams.TombstoneReq.Options

const expectationOf = (options: Options): ExpectedOnTheWire => {
  if (options.hasAny()) return 'any'
  if (options.hasNoStream()) return 'no_stream'
  return options.hasStreamExists() ? 'stream_exists' : BigInt(options.getRevision())
}

export const softDelete =
  (log: DoubleLog): handleUnaryCall<streams.DeleteReq, streams.DeleteResp> =>
  ({ request }, callback) => {
    const options = request.getOptions()!
    const refused = log.delete('delete', nameOf(options.getStreamIdentifier()), expectationOf(options))
    if (refused !== undefined) callback(errorOf(refused))
    else callback(null, new streams.DeleteResp().setNoPosition(new shared.Empty()))
  }

export const tombstone =
  (log: DoubleLog): handleUnaryCall<streams.TombstoneReq, streams.TombstoneResp> =>
  ({ request }, callback) => {
    const options = request.getOptions()!
    const refused = log.delete('tombstone', nameOf(options.getStreamIdentifier()), expectationOf(options))
    if (refused !== undefined) callback(errorOf(refused))
    else callback(null, new streams.TombstoneResp().setNoPosition(new shared.Empty()))
  }
