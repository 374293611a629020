import { setImmediate } from 'node:timers/promises'
import type { MethodDefinition } from '@grpc/grpc-js'
import type { AppendExpectedRevision, EventStoreDBClient } from '@eventstore/db-client'
import type { Appended, Expected } from '../../../kernel/ports/event-store.js'
import { KeyedMutex } from '../../../kernel/keyed-mutex.js'
import { codeOf } from './failures.js'
import type { SharedClient } from './one-client.js'
import type { Proposal } from './proposal.js'
import { within } from './waiting.js'

/** The append did not leave this process. */
export class NotSent extends Error {
  override readonly name = 'NotSent'
}

/**
 * With a batched append the client sends this as a moment of its own clock, and the server compares that with its own: a
 * server whose clock is further ahead than this refuses every append. Nobody here waits that long.
 */
const SERVER_DEADLINE_MS = 30_000

/** Codes after which the client connects anew by itself; after any other it keeps the failure for ever. */
const CANCELLED = 1
const UNAVAILABLE = 14

const BATCH_APPEND = { path: '/event_store.client.streams.Streams/BatchAppend' } as MethodDefinition<
  unknown,
  unknown
>

/** What the client asks a server first, and cannot append without. */
const offersBatches = async (client: EventStoreDBClient): Promise<boolean> =>
  (await client['capabilities']).supports(BATCH_APPEND)

export type Attempt = (proposal: Proposal, ms: number) => Promise<Appended>

/**
 * One try. Batched appends have no deadline of their own, hence the time given here. They all travel over one call, in
 * the order in which they were issued; a server that offers none (before 21.10) gets one append after the other.
 *
 * Throws NotSent where nothing can have been written, and otherwise what the client throws, or TimedOut.
 */
export const attempts = (shared: SharedClient): Attempt => {
  const mutex = new KeyedMutex()
  const opened = firstAlone()

  return async ({ stream, expected, events }, ms) => {
    const until = performance.now() + ms
    const client = shared.current()
    const batched = await within(offersBatches(client), ms).catch((cause: unknown) => {
      const code = codeOf(cause)
      if (code !== undefined && code !== CANCELLED && code !== UNAVAILABLE) shared.replace(client)
      throw new NotSent('the EventStoreDB does not respond', { cause })
    })
    let isSent = false
    const send = async () => {
      if (performance.now() > until) throw new NotSent('timed out in the queue')
      isSent = true
      return client.appendToStream(stream, events, {
        expectedRevision: onTheWire(expected),
        deadline: SERVER_DEADLINE_MS,
      })
    }
    const left = until - performance.now()
    const sent = batched
      ? opened(() => within(send(), left))
      : within(
          mutex.runExclusive('append', () => within(send(), left)),
          left,
        )
    const { nextExpectedRevision, position } = await sent.catch((cause: unknown) => {
      throw isSent ? cause : new NotSent('timed out in the queue', { cause })
    })
    shared.heard()
    return {
      revision: nextExpectedRevision,
      ...(position === undefined ? {} : { position: position.commit }),
    }
  }
}

/**
 * The append that opens the call for batches takes longer to be written than those after it, and would be overtaken. So
 * what is issued together with it waits a turn of the event loop.
 */
const firstAlone = () => {
  let underWay = 0
  let opening: Promise<void> | undefined
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (opening !== undefined) await opening
    if (underWay === 0) opening = setImmediate().then(() => void (opening = undefined))
    underWay += 1
    try {
      return await task()
    } finally {
      underWay -= 1
    }
  }
}

/** Larger than any revision: no stream is there, and the wire has 64 bits. */
const BEYOND = 2n ** 63n - 1n

const onTheWire = (expected: Expected): AppendExpectedRevision => {
  if (expected === 'none') return 'no_stream'
  return expected > BEYOND ? BEYOND : expected
}
