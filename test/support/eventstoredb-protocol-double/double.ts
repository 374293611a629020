import { Server, ServerCredentials, status, type sendUnaryData, type UntypedHandleCall } from '@grpc/grpc-js'
import featureServices from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { batchAppend } from './appending.js'
import { softDelete, tombstone } from './deleting.js'
import { supportedMethods } from './features.js'
import { DoubleLog } from './log.js'
import { wellBehaved, type Misbehaviour } from './misbehaviour.js'
import { read, readPace, type Reads } from './reading.js'
import { serviceQueue } from './service.js'

/** A double of the protocol that an EventStoreDB server speaks. It is no EventStoreDB: it knows what the tests need. */
export interface ProtocolDouble {
  readonly url: string
  readonly log: DoubleLog
  readonly misbehaviour: Misbehaviour
  /** How many subscriptions it serves now. */
  readonly subscriptions: () => number
  /** How often it was asked for its features: once for each connection that a client begins. */
  readonly asked: () => number
  /** How many responses to reads and subscriptions it has handed to the connection. */
  readonly written: () => number
  /** How many appends and reads it has worked on. */
  readonly served: () => number
  /** The most appends and reads that it had to work on at once. */
  readonly mostUnderWay: () => number
  /** Ends every subscription with an error, as a server does that cannot go on with it. */
  readonly dropSubscriptions: (code?: status) => void
  /** Cuts all connections, forgets the ids of appends that name no revision, and listens again on the same port. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

interface Given {
  readonly log?: DoubleLog
  readonly host?: string
  readonly port?: number
  readonly misbehaviour?: Partial<Misbehaviour>
}

const unsupported: UntypedHandleCall = (_: unknown, callback: sendUnaryData<never>) =>
  callback({ code: status.UNIMPLEMENTED })

const { read: readMethod, ...otherMethods } = streamServices.StreamsService
const STREAMS = {
  ...otherMethods,
  read: {
    ...readMethod,
    responseSerialize: (response: ReadResp | Buffer) =>
      Buffer.isBuffer(response) ? response : readMethod.responseSerialize(response),
  },
}

const LARGEST_MESSAGE = 32 * 1024 * 1024

export const startProtocolDouble = async (given: Given = {}): Promise<ProtocolDouble> => {
  const { log = new DoubleLog(), host = '127.0.0.1' } = given
  const misbehaviour = { ...wellBehaved(), ...given.misbehaviour }
  const reads: Reads = { subscriptions: new Set(), written: 0, pace: readPace(misbehaviour) }
  const questions = { asked: 0 }
  const service = serviceQueue(misbehaviour)

  const serve = async (at: number) => {
    const serving = new Server({ 'grpc.max_receive_message_length': LARGEST_MESSAGE })
    serving.addService(STREAMS, {
      read: read(log, misbehaviour, reads, service),
      append: unsupported,
      batchAppend: batchAppend(log, misbehaviour, service),
      delete: softDelete(log),
      tombstone: tombstone(log),
    })
    serving.addService(featureServices.ServerFeaturesService, {
      getSupportedMethods: supportedMethods(misbehaviour, questions),
    })
    const bound = await new Promise<number>((resolve, reject) => {
      serving.bindAsync(`${host}:${at}`, ServerCredentials.createInsecure(), (error, found) =>
        error === null ? resolve(found) : reject(error),
      )
    })
    return { serving, bound }
  }

  let { serving: server, bound: port } = await serve(given.port ?? 0)

  return {
    url: `esdb://${host}:${port}?tls=false`,
    log,
    misbehaviour,
    subscriptions: () => reads.subscriptions.size,
    asked: () => questions.asked,
    written: () => reads.written,
    served: service.served,
    mostUnderWay: service.mostUnderWay,
    dropSubscriptions: (code = status.ABORTED) => {
      for (const call of reads.subscriptions) call.emit('error', { code, details: 'dropped' })
    },
    restart: async () => {
      server.forceShutdown()
      log.forgetIds()
      ;({ serving: server, bound: port } = await serve(port))
    },
    stop: async () => server.forceShutdown(),
  }
}
