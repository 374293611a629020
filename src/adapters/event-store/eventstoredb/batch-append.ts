import { hash } from 'node:crypto'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import type { Appended, Expected } from '../../../kernel/ports/event-store.js'
import type { SerialisedEvent } from '../serialise.js'
import type { BatchAppendCall, Channel, SharedConnection } from './connection.js'
import { isNotSent, isRefused, notWritable, refusalOf } from './errors.js'
import { appendRequest } from './requests.js'
import { TimedOut, within } from './waiting.js'

/** An append as the server takes it. */
export interface Proposal {
  readonly stream: string
  readonly expected: Expected
  readonly events: readonly SerialisedEvent[]
  readonly bytes: number
}

/** The append did not leave this process, or not for the node that takes appends. */
export class NotSent extends Error {
  override readonly name = 'NotSent'
}

interface OpenCall {
  readonly channel: Channel
  readonly call: BatchAppendCall
  /** By correlation id. */
  readonly pending: Map<
    string,
    readonly [(response: streams.BatchAppendResp) => void, (error: unknown) => void]
  >
}

/** gRPC sends one message of a call in each turn of the event loop, which takes milliseconds under load. */
const CALLS = 8

/**
 * Appends over a few calls, those of a stream in the order in which they are issued, with one try each.
 *
 * `append` throws what the server refused with, NotSent if nothing can have been written, and anything else if the
 * outcome is unknown.
 */
export const batchAppends = (connection: SharedConnection) => {
  const open: (OpenCall | undefined)[] = []

  const openCall = (channel: Channel, place: number): OpenCall => {
    const call = channel.batchAppend()
    const opened: OpenCall = { channel, call, pending: new Map() }
    const onEnd = (error: unknown) => {
      if (open[place] === opened) open[place] = undefined
      channel.onFailure(error)
      for (const [, reject] of opened.pending.values()) reject(error)
      opened.pending.clear()
    }
    call.on('data', (response: streams.BatchAppendResp) => {
      connection.onResponse()
      opened.pending.get(response.getCorrelationId()?.getString() ?? '')?.[0](response)
    })
    // An error without a listener would end the process.
    call.on('error', onEnd).on('end', () => onEnd(new Error('the EventStoreDB ended the call')))
    return opened
  }

  const callOn = (channel: Channel, place: number): OpenCall => {
    const found = open[place]
    if (found?.channel === channel) return found
    found?.call.cancel()
    return (open[place] = openCall(channel, place))
  }

  /** Writes the request before it returns. */
  const send = async (
    channel: Channel,
    place: number,
    { stream, expected, events }: Proposal,
    ms: number,
  ): Promise<Appended> => {
    const { call, pending } = callOn(channel, place)
    const { correlationId, request } = appendRequest(stream, expected, events)
    try {
      const response = await within(
        new Promise<streams.BatchAppendResp>((...settle) => {
          pending.set(correlationId, settle)
          call.write(request)
        }),
        ms,
      )
      const refusal = response.getError()
      if (refusal !== undefined) throw refusalOf(refusal, stream, expected)
      const success = response.getSuccess()
      const position = success?.getPosition()?.getCommitPosition()
      return {
        revision: BigInt(success?.getCurrentRevision() ?? 0),
        ...(position === undefined ? {} : { position: BigInt(position) }),
      }
    } catch (error) {
      const isLate = error instanceof TimedOut
      if (isLate) connection.onSilence()
      if (isRefused(error)) throw notWritable(error)
      if (!isNotSent(error) && !(isLate && channel.isConnecting())) throw error
      throw new NotSent('the append was not sent', { cause: error })
    } finally {
      pending.delete(correlationId)
    }
  }

  const channelWithin = (ms: number): Promise<Channel> =>
    within(connection.channel(), ms).catch((cause: unknown) => {
      throw new NotSent('the EventStoreDB does not respond', { cause })
    })

  return {
    append: async (proposal: Proposal, ms: number): Promise<Appended> => {
      const until = performance.now() + ms
      const channel = await channelWithin(ms)
      return send(channel, placeOf(proposal.stream), proposal, until - performance.now())
    },
    /** All over one call: the server works on its requests in the order in which they are written. */
    appendInOrder: async (proposals: readonly Proposal[], ms: number) => {
      const channel = await channelWithin(ms)
      return Promise.allSettled(proposals.map((proposal) => send(channel, CALLS, proposal, ms)))
    },
    close: () => {
      for (const one of open) one?.call.cancel()
    },
  }
}

const placeOf = (stream: string): number => hash('md5', stream, 'buffer').readUInt32LE() % CALLS
