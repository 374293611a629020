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

/**
 * Appends over one call, in the order in which they are issued, with one try each.
 *
 * `append` throws what the server refused with, NotSent if nothing can have been written, and anything else if the
 * outcome is unknown.
 */
export const batchAppends = (connection: SharedConnection) => {
  let open: OpenCall | undefined

  const openCall = (channel: Channel): OpenCall => {
    const call = channel.batchAppend()
    const opened: OpenCall = { channel, call, pending: new Map() }
    const onEnd = (error: unknown) => {
      if (open === opened) open = undefined
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

  const callOn = (channel: Channel): OpenCall => {
    if (open?.channel !== channel) {
      open?.call.cancel()
      open = openCall(channel)
    }
    return open
  }

  const append = async ({ stream, expected, events }: Proposal, ms: number): Promise<Appended> => {
    const until = performance.now() + ms
    const channel = await within(connection.channel(), ms).catch((cause: unknown) => {
      throw new NotSent('the EventStoreDB does not respond', { cause })
    })
    const { call, pending } = callOn(channel)
    const { correlationId, request } = appendRequest(stream, expected, events)
    try {
      const response = await within(
        new Promise<streams.BatchAppendResp>((...settle) => {
          pending.set(correlationId, settle)
          call.write(request)
        }),
        until - performance.now(),
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

  return { append, close: () => open?.call.cancel() }
}
