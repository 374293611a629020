import { randomUUID } from 'node:crypto'
import { SCHEMA_VERSION } from '../../../kernel/event.js'
import type { Appended, EventStore, RecordedEvent } from '../../../kernel/ports/event-store.js'
import {
  AppendOutcomeUnknown,
  ConcurrencyConflict,
  StoreUnavailable,
} from '../../../kernel/ports/event-store-errors.js'
import { retry } from '../../../kernel/backoff.js'
import { firstRevisionOf } from '../expectation.js'
import { attempts, NotSent } from './attempt.js'
import { isNotLeader, refusalOf } from './failures.js'
import type { SharedClient } from './one-client.js'
import { proposalOf, type Proposal } from './proposal.js'
import { slots } from './slots.js'
import { BACKOFF } from './waiting.js'

/** How long an append may take with all its tries. */
const APPEND_MS = 5000
/** How long one try may take. */
const ATTEMPT_MS = 2000
/** More only wait in the server, where their time runs out. They wait here, before their time begins. */
const SLOTS = { atOnce: 500, mostWaitingBytes: 32 * 1024 * 1024, waitMs: 20_000 }
/** With less time left than this no further try is made. */
const LEAST_MS = 100

/**
 * Appends, trying again with the same event ids and the same expectation while time is left: the server recognises what
 * it has. A conflict is a success when our events are what is in the way.
 *
 * @throws AppendOutcomeUnknown when a try went out and no answer came in time; the caller may repeat it as it is
 */
export const appending = (
  shared: SharedClient,
  reading: Pick<EventStore, 'readStream'>,
  appendMs = APPEND_MS,
): Pick<EventStore, 'append' | 'checkWritable'> => {
  const attempt = attempts(shared)
  const { acquire } = slots(SLOTS)

  const once = async (proposal: Proposal, ms: number): Promise<Appended> => {
    try {
      return await attempt(proposal, ms)
    } catch (error) {
      const refusal = refusalOf(error, proposal.stream, proposal.expected)
      if (refusal === undefined) throw error
      const stored =
        refusal instanceof ConcurrencyConflict && mayStand(proposal, refusal)
          ? await storedAlready(reading, proposal).catch(notLookedUp)
          : undefined
      if (stored === undefined) throw new Refused(refusal)
      return stored
    }
  }

  const untilSettled = (proposal: Proposal): Promise<Appended> => {
    const until = performance.now() + appendMs
    let isSent = false
    return retry(
      () => once(proposal, Math.min(Math.max(until - performance.now(), 1), ATTEMPT_MS)),
      (error) => {
        if (error instanceof Refused) throw error.reason
        isSent ||= wasSent(error)
        if (until - performance.now() < LEAST_MS) throw isSent ? unknown(error) : unreachable(error)
        return true
      },
      BACKOFF,
    )
  }

  return {
    append: async (stream, expected, events) => {
      const proposal = proposalOf(stream, expected, events)
      const release = await acquire(proposal.bytes)
      try {
        const appended = await untilSettled(proposal)
        return appended.position === undefined ? await placed(reading, stream, appended) : appended
      } finally {
        release()
      }
    },

    checkWritable: async () => {
      const proposal = impossibleAppend()
      try {
        await attempt(proposal, ATTEMPT_MS)
      } catch (error) {
        const refusal = refusalOf(error, proposal.stream, proposal.expected)
        if (refusal instanceof ConcurrencyConflict) return
        throw refusal ?? (wasSent(error) ? unknown(error) : unreachable(error))
      }
    },
  }
}

/** No stream comes to this revision, so the node that takes appends answers with a conflict and stores nothing. */
const impossibleAppend = (): Proposal =>
  proposalOf('health-check', 2n ** 53n, [
    {
      id: randomUUID(),
      type: 'HealthChecked',
      data: {},
      metadata: { correlationId: '', causationId: '', actor: 'system', schemaVersion: SCHEMA_VERSION },
    },
  ])

/** The store said no, and nothing was written. */
class Refused extends Error {
  override readonly name = 'Refused'
  constructor(readonly reason: Error) {
    super(reason.message)
  }
}

/** Whether a conflict is with our own events could not be seen. */
class NotLookedUp extends Error {
  override readonly name = 'NotLookedUp'
}

const notLookedUp = (cause: unknown): never => {
  throw new NotLookedUp('cannot determine the cause of a revision conflict', { cause })
}

const wasSent = (error: unknown): boolean =>
  !(error instanceof NotSent || error instanceof StoreUnavailable) && !isNotLeader(error)

const unknown = (cause: unknown) =>
  new AppendOutcomeUnknown('the outcome of an append to the EventStoreDB is unknown', { cause })

const unreachable = (cause: unknown) => new StoreUnavailable('the EventStoreDB cannot be reached', { cause })

/** Whether the events can be what the writer met: the stream is as long as they would have made it. */
const mayStand = ({ expected, ids }: Proposal, { actual }: ConcurrencyConflict): boolean =>
  actual !== 'none' && actual >= BigInt(firstRevisionOf(expected) + ids.length - 1)

/** The server does not say where a repeat stands; who wants to read it must know. */
const placed = async (
  reading: Pick<EventStore, 'readStream'>,
  stream: string,
  { revision }: Appended,
): Promise<Appended> => {
  try {
    for await (const { position } of reading.readStream(stream, { from: revision, limit: 1 }))
      return { revision, position }
  } catch {
    // The append itself succeeded.
  }
  return { revision }
}

/** Where the events of a proposal are, if they all are where it would have put them. */
const storedAlready = async (
  reading: Pick<EventStore, 'readStream'>,
  { stream, expected, ids }: Proposal,
): Promise<Appended | undefined> => {
  let last: RecordedEvent | undefined
  let matched = 0
  const from = BigInt(firstRevisionOf(expected))
  for await (const event of reading.readStream(stream, { from, limit: ids.length })) {
    if (event.id !== ids[matched]) return undefined
    matched += 1
    last = event
  }
  return last !== undefined && matched === ids.length
    ? { revision: last.revision, position: last.position }
    : undefined
}
