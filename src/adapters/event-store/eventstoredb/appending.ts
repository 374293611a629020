import { randomUUID } from 'node:crypto'
import type { Appended, EventStore, Expected, NewEvent } from '../../../kernel/ports/event-store.js'
import {
  AppendOutcomeUnknown,
  ConcurrencyConflict,
  EventTooLarge,
  InvalidAppend,
  StoreUnavailable,
  StreamUnreadable,
} from '../../../kernel/ports/event-store-errors.js'
import { retry } from '../../../kernel/backoff.js'
import { firstRevisionOf } from '../expectation.js'
import { serialise } from '../serialise.js'
import { batchAppends, NotSent, type Proposal } from './batch-append.js'
import type { SharedConnection } from './connection.js'
import { isSystemName } from './recorded-event.js'
import { sealedMetadata } from './sealed-metadata.js'
import { slots } from './slots.js'
import { BACKOFF } from './waiting.js'

/** How long an append may take with all its tries. */
const APPEND_MS = 12_000
/** How long one try may take: longer than a busy server or process takes, because a repeated append adds to its load. */
const ATTEMPT_MS = 4000
/** Further appends queue in this process, because in the server their time would run out. */
const SLOTS = { atOnce: 500, mostBytes: 16 * 1024 * 1024, mostWaitingBytes: 32 * 1024 * 1024, waitMs: 20_000 }
/** No further try is made with less time left. */
const LEAST_MS = 100

type Reading = Pick<EventStore, 'readStream'>

/**
 * Tries again with the same event ids and the same expectation while time is left: the server recognises what it has. A
 * conflict is a success if our own events are the conflicting ones.
 *
 * `append` throws AppendOutcomeUnknown if a try was sent and no response came in time; the caller may repeat it.
 */
export const appending = (connection: SharedConnection, reading: Reading, appendMs = APPEND_MS) => {
  const { append: attempt, appendInOrder: attemptInOrder, close } = batchAppends(connection)
  const { acquire } = slots(SLOTS)

  const attemptOrFind = async (proposal: Proposal, ms: number): Promise<Appended> => {
    try {
      return await attempt(proposal, ms)
    } catch (error) {
      if (!(error instanceof ConcurrencyConflict && couldBeOurs(proposal, error))) throw error
      const stored = await storedAlready(reading, proposal).catch((cause: unknown) => {
        if (cause instanceof StreamUnreadable) throw cause
        throw new Error('cannot determine the cause of a revision conflict', { cause })
      })
      if (stored === undefined) throw error
      return stored
    }
  }

  const untilSettled = (proposal: Proposal): Promise<Appended> => {
    const until = performance.now() + appendMs
    let isSent = false
    return retry(
      () => attemptOrFind(proposal, Math.min(Math.max(until - performance.now(), 1), ATTEMPT_MS)),
      (error) => {
        if (isFinal(error)) throw error
        isSent ||= !(error instanceof NotSent)
        if (until - performance.now() < LEAST_MS) throw isSent ? unknown(error) : unreachable(error)
        return true
      },
      BACKOFF,
    )
  }

  return {
    append: async (stream: string, expected: Expected, events: readonly NewEvent[]): Promise<Appended> => {
      const proposal = proposalOf(stream, expected, events)
      const release = await acquire(proposal.bytes, categoryOf(stream))
      try {
        const appended = await untilSettled(proposal)
        requireWhole(proposal, appended)
        return appended.position === undefined ? await withPosition(reading, stream, appended) : appended
      } finally {
        release()
      }
    },

    appendInOrder: async (appends: readonly Parameters<EventStore['append']>[]) => {
      const proposals = appends.map((proposed) => proposalOf(...proposed))
      const tried = await attemptInOrder(proposals, appendMs).catch(() => [])
      tried.forEach((one, at) => one.status === 'fulfilled' && requireWhole(proposals[at]!, one.value))
      return tried.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
    },

    checkWritable: async (): Promise<void> => {
      try {
        await attempt(impossibleAppend(), ATTEMPT_MS)
      } catch (error) {
        if (error instanceof ConcurrencyConflict) return
        if (isFinal(error)) throw error
        throw error instanceof NotSent ? unreachable(error) : unknown(error)
      }
    },

    close,
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** @throws InvalidAppend, EventTooLarge as `serialise` does; InvalidAppend for names and ids the server does not take */
const proposalOf = (stream: string, expected: Expected, given: readonly NewEvent[]): Proposal => {
  const { events, bytes } = serialise(stream, given)
  requireName(stream)
  for (const { id, type } of events) {
    requireName(type)
    if (!UUID.test(id)) throw new InvalidAppend('an event id must be a lower-case UUID')
  }
  const sealed = events.map((event) => ({ ...event, metadata: sealedMetadata(event, event.seal) }))
  return { stream, expected, events: sealed, bytes }
}

const requireName = (name: string): void => {
  if (name === '' || isSystemName(name))
    throw new InvalidAppend('a name must not be empty or start with $, which the EventStoreDB reserves')
}

const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-') + 1)

/** No stream comes to this revision, so the node that takes appends answers with a conflict and stores nothing. */
const impossibleAppend = (): Proposal => ({
  stream: 'health-check',
  expected: 2n ** 53n,
  events: [{ id: randomUUID(), type: 'HealthChecked', data: '{}', metadata: '{}', seal: undefined }],
  bytes: 4,
})

/** The server refused the append, and nothing was written. */
const isFinal = (error: unknown): boolean =>
  error instanceof ConcurrencyConflict ||
  error instanceof EventTooLarge ||
  error instanceof StoreUnavailable ||
  error instanceof StreamUnreadable

const unknown = (cause: unknown) =>
  new AppendOutcomeUnknown('the outcome of an append to the EventStoreDB is unknown', { cause })

const unreachable = (cause: unknown) => new StoreUnavailable('the EventStoreDB cannot be reached', { cause })

const lastRevisionOf = ({ expected, events }: Proposal): bigint =>
  BigInt(firstRevisionOf(expected) + events.length - 1)

/** Whether the stream is as long as the events would have made it. */
const couldBeOurs = (proposal: Proposal, { actual }: ConcurrencyConflict): boolean =>
  actual !== 'none' && actual >= lastRevisionOf(proposal)

/** A stream that was deleted softly counts as new, but its revisions continue. */
const requireWhole = (proposal: Proposal, { revision }: Appended): void => {
  if (revision !== lastRevisionOf(proposal))
    throw new StreamUnreadable(
      proposal.stream,
      `it was deleted in the EventStoreDB, and an event was appended to it at revision ${revision}`,
    )
}

/** The server does not return the position of a repeat. */
const withPosition = async (reading: Reading, stream: string, { revision }: Appended): Promise<Appended> => {
  try {
    for await (const { position } of reading.readStream(stream, { from: revision, limit: 1 }))
      return { revision, position }
  } catch {
    // The append itself succeeded.
  }
  return { revision }
}

/** The last revision and position of the events of a proposal, if they are all where it would have put them. */
const storedAlready = async (
  reading: Reading,
  { stream, expected, events }: Proposal,
): Promise<Appended | undefined> => {
  const from = BigInt(firstRevisionOf(expected))
  let appended: Appended | undefined
  let matched = 0
  for await (const event of reading.readStream(stream, { from, limit: events.length })) {
    if (event.id !== events[matched]?.id) return undefined
    matched += 1
    appended = { revision: event.revision, position: event.position }
  }
  return matched === events.length ? appended : undefined
}
