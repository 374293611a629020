import type { ClientDuplexStream, ClientReadableStream } from '@grpc/grpc-js'
import { EventStoreDBClient, UnavailableError } from '@eventstore/db-client'
import services from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import { readResponseOf, type ReadResponse } from './read-response.js'

export type ReadCall = ClientReadableStream<ReadResponse>
export type BatchAppendCall = ClientDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>

/** One channel to the server. */
export interface Channel {
  readonly read: (request: streams.ReadReq) => ReadCall
  readonly batchAppend: () => BatchAppendCall
  /** Whether its calls wait for a connection. */
  readonly isConnecting: () => boolean
  /** Closes the channel if the error means that it is broken; `channel()` opens a new one, perhaps to another node. */
  readonly onFailure: (error: unknown) => void
}

/** The connection of a store. All calls share its channel. */
export interface SharedConnection {
  readonly channel: () => Promise<Channel>
  readonly features: () => Promise<{ readonly version: string; readonly hasBatches: boolean }>
  readonly onResponse: () => void
  /** No response came in time. If that lasts, the channel is replaced. */
  readonly onSilence: () => void
  readonly close: () => void
}

/** A connection that is accepted and never answered is not kept alive, and would be waited for without end. */
const MAX_SILENCE_MS = 10_000

/** With the usual 64 KiB a server sends about 20 events in a turn of the event loop, which takes milliseconds under load. */
const WINDOW_BYTES = 1024 * 1024

/** States of gRPC: IDLE, CONNECTING, TRANSIENT_FAILURE. */
const CONNECTING = new Set([0, 1, 3])

/**
 * The package parses the connection string, discovers the nodes of a cluster and follows its leader. Its appends and
 * reads are not used: see decision 0060.
 *
 * @throws StoreUnavailable for a connection string that is not valid
 */
export const openConnection = (url: string): SharedConnection => {
  const client = clientOf(url)
  widenWindow(client)
  let silentSince: number | undefined
  let current: (Channel & { readonly streams: services.StreamsClient }) | undefined

  const callArguments = () => client['callArguments']({}, { deadline: Infinity })
  const channelOf = (streams: services.StreamsClient) => ({
    streams,
    read: (request: streams.ReadReq) =>
      streams.makeServerStreamRequest(path, requestSerialize, readResponseOf, request, ...callArguments()),
    batchAppend: () => streams.batchAppend(...callArguments()),
    isConnecting: () => CONNECTING.has(streams.getChannel().getConnectivityState(false)),
    onFailure: (error: unknown) => {
      if (error instanceof Error) client['handleError'](streams, error).catch(() => undefined)
    },
  })

  return {
    channel: async () => {
      const streams = await client['execute'](services.StreamsClient, 'streams', async (found) => found)
      const channel = current?.streams === streams ? current : channelOf(streams)
      current = channel
      return channel
    },
    features: async () => {
      const features = await client['capabilities']
      return {
        version: features.serverVersion,
        hasBatches: features.supports(services.StreamsService.batchAppend),
      }
    },
    onResponse: () => {
      silentSince = undefined
    },
    onSilence: () => {
      silentSince ??= performance.now()
      if (performance.now() - silentSince < MAX_SILENCE_MS) return
      silentSince = undefined
      current?.onFailure(new UnavailableError(undefined, 'no response'))
    },
    close: () => {
      current?.streams.getChannel().close()
      // Before the first response the package has a channel that is not handed out, and would keep the process alive.
      void client['getChannel']().then(
        (channel) => channel.close(),
        () => undefined,
      )
    },
  }
}

const { path, requestSerialize } = services.StreamsService.read

/** The package takes no options for its channels, which connect later. */
const widenWindow = (client: EventStoreDBClient): void => {
  const createChannel = client['createChannel'] as () => Promise<{ internalChannel: { options: object } }>
  client['createChannel'] = async () => {
    const channel = await createChannel()
    Object.assign(channel.internalChannel.options, { 'grpc-node.flow_control_window': WINDOW_BYTES })
    return channel
  }
}

/** The package's errors repeat the connection string with the password, but for those about files. */
const clientOf = (url: string): EventStoreDBClient => {
  try {
    return EventStoreDBClient.connectionString(url)
  } catch (error) {
    const { message } = error as Error
    if (!/file/i.test(message) || message.includes('://'))
      throw new StoreUnavailable('EVENTSTORE_URL is not a valid connection string')
    const files = url.match(/(tlsCAFile|userCertFile|userKeyFile)=[^&]*/gi) ?? []
    throw new StoreUnavailable(`EVENTSTORE_URL: ${message} (${files.join(', ')})`)
  }
}
