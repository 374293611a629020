import { setMaxListeners } from 'node:events'
import { BACKWARDS, END } from '@eventstore/db-client'
import type { EventStore } from '../../../kernel/ports/event-store.js'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import { noHealthReports, type HealthReports } from '../../../kernel/ports/health.js'
import { retry } from '../../../kernel/backoff.js'
import { appending } from './appending.js'
import { mayPass } from './failures.js'
import { shareClient, type SharedClient } from './one-client.js'
import { reading } from './reading.js'
import { sharedTail } from '../shared-tail.js'
import { subscribing } from './subscribing.js'
import { BACKOFF, within } from './waiting.js'

/** How long a server may take to be there when the program starts. */
const START_MS = 5000
const READS_AT_ONCE = 64
const LOOK_UPS_AT_ONCE = 64

interface EventStoreDbOptions {
  readonly health?: HealthReports | undefined
  /** How long an append may take with all its tries. */
  readonly appendMs?: number | undefined
}

/**
 * The log in an EventStoreDB, by connection string (`esdb://…` or `esdb+discover://…`), from which credentials come too.
 * Other programs may write to the same server, under other stream names; their events are passed over.
 *
 * @throws StoreUnavailable when the server cannot be reached or read or its log has newer events, without the user and password in the message
 */
export const openEventStoreDb = async (
  url: string,
  { health = noHealthReports, appendMs }: EventStoreDbOptions = {},
): Promise<EventStore> => {
  const shared = sharedClient(url)
  try {
    await requireReachable(shared, hostsOf(url))
  } catch (error) {
    await shared.release()
    throw error
  }
  const store = eventStoreOver(shared, health, appendMs)
  try {
    // Reads the last event, so that an older release does not start over a newer log.
    await store.head()
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

const eventStoreOver = (
  shared: SharedClient,
  health: HealthReports,
  appendMs: number | undefined,
): EventStore => {
  const closing = new AbortController()
  const { signal: closed } = closing
  // Every read that is under way listens.
  setMaxListeners(0, closed)
  const { lastAfter, ...reads } = reading(shared, closed, READS_AT_ONCE, health)
  // Look-ups of appends, which hold a slot meanwhile, and subscriptions do not wait behind the reads of others.
  const lookUps = reading(shared, closed, LOOK_UPS_AT_ONCE, health)
  const { append, checkWritable } = appending(shared, lookUps, appendMs)
  const underWay = new Set<Promise<unknown>>()
  let released: Promise<void> | undefined

  const requireOpen = () => {
    if (closed.aborted) throw new StoreUnavailable('the event store is closed')
  }

  return {
    append: async (...proposed) => {
      requireOpen()
      const appended = append(...proposed)
      underWay.add(appended)
      try {
        const answer = await appended
        health.report('event-log-writes', null)
        return answer
      } catch (error) {
        health.report('event-log-writes', error)
        throw error
      } finally {
        underWay.delete(appended)
      }
    },
    ...reads,
    checkWritable: async () => {
      requireOpen()
      await checkWritable()
    },
    subscribeAll: sharedTail(subscribing(shared, lookUps, closed)),
    head: () => lastAfter(0n),
    close: () => {
      closing.abort()
      released ??= Promise.allSettled(underWay).then(shared.release)
      return released
    },
  }
}

/** What the client says about a string it does not take repeats the string, password and all. */
const sharedClient = (url: string): SharedClient => {
  try {
    return shareClient(url)
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    throw new StoreUnavailable('EVENTSTORE_URL is not a valid connection string')
  }
}

const requireReachable = (shared: SharedClient, hosts: string): Promise<void> => {
  const until = performance.now() + START_MS
  return retry(
    () => within(readOne(shared), Math.max(until - performance.now(), 1)),
    (cause) => {
      if (!mayPass(cause))
        throw new StoreUnavailable(
          `the user of EVENTSTORE_URL may not read $all in the EventStoreDB at ${hosts}`,
          { cause },
        )
      if (performance.now() >= until)
        throw new StoreUnavailable(`the EventStoreDB at ${hosts} (EVENTSTORE_URL) does not respond`, {
          cause,
        })
      return true
    },
    BACKOFF,
  )
}

const readOne = async (shared: SharedClient): Promise<void> => {
  const read = shared.current().readAll({ fromPosition: END, direction: BACKWARDS, maxCount: 1 })
  // An error may still come when nobody reads any more.
  read.on('error', () => undefined)
  for await (const _ of read) return
}

/** The hosts of a connection string, without the user and password. */
const hostsOf = (url: string): string => /^[^:]+:\/\/(?:[^@]*@)?([^/?]*)/.exec(url)?.[1] ?? ''
