import type { handleUnaryCall } from '@grpc/grpc-js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import type shared from '@eventstore/db-client/generated/shared_pb.js'
import type { Misbehaviour } from './misbehaviour.js'

const SERVICE = 'event_store.client.streams.streams'

/** `GetSupportedMethods`: names are in lower case. */
export const supportedMethods =
  (
    misbehaviour: Misbehaviour,
    questions: { asked: number },
  ): handleUnaryCall<shared.Empty, features.SupportedMethods> =>
  (_, callback) => {
    questions.asked += 1
    if (misbehaviour.muteReads) return
    const methods = ['read', 'append', ...(misbehaviour.batchAppend ? ['batchappend'] : [])]
    const list = methods.map((method) =>
      new features.SupportedMethod().setServiceName(SERVICE).setMethodName(method),
    )
    callback(
      null,
      new features.SupportedMethods().setEventStoreServerVersion('0.0.0-double').setMethodsList(list),
    )
  }
