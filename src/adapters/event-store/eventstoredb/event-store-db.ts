import { setMaxListeners } from 'node:events'
import type { EventStore } from '../../../kernel/ports/event-store.js'
import { noHealthReports, type HealthReports } from '../../../kernel/ports/health.js'
import { sharedTail } from '../shared-tail.js'
import { appending } from './appending.js'
import { openConnection } from './connection.js'
import { reading, requireOpen } from './reading.js'
import { requireSupported } from './require-supported.js'
import { subscribing } from './subscribing.js'

const READS_AT_ONCE = 64

interface EventStoreDbOptions {
  readonly health?: HealthReports | undefined
  /** How long an append may take with all its tries. */
  readonly appendMs?: number | undefined
}

/**
 * The log in an EventStoreDB, by connection string (`esdb://…` or `esdb+discover://…`), which may hold credentials. Other
 * programs may write to the same server, under other stream names.
 *
 * @throws StoreUnavailable when the server cannot be reached or read or its log has newer events, without the user and password in the message
 */
export const openEventStoreDb = async (
  url: string,
  { health = noHealthReports, appendMs }: EventStoreDbOptions = {},
): Promise<EventStore> => {
  const connection = openConnection(url)
  const closing = new AbortController()
  const { signal: closed } = closing
  // Every read that is under way listens.
  setMaxListeners(0, closed)
  const { requireKnownEvents, decode, pageAfter, goalAfter, ...reads } = reading(
    connection,
    closed,
    READS_AT_ONCE,
    health,
  )
  try {
    await requireSupported(connection, url)
    // An older release must not start over a newer log.
    await requireKnownEvents()
  } catch (error) {
    closing.abort()
    connection.close()
    throw error
  }
  // Look-ups of appends, which hold a slot meanwhile, and subscriptions do not wait for the reads of others.
  const lookUps = reading(connection, closed, READS_AT_ONCE, health)
  const appends = appending(connection, lookUps, appendMs)
  const underWay = new Set<Promise<unknown>>()
  let released: Promise<void> | undefined

  return {
    append: async (...proposed) => {
      requireOpen(closed)
      const appended = appends.append(...proposed)
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
    appendInOrder: appends.appendInOrder,
    ...reads,
    checkWritable: async () => {
      requireOpen(closed)
      await appends.checkWritable()
    },
    subscribeAll: sharedTail(subscribing(connection, lookUps, closed)),
    close: () => {
      closing.abort()
      released ??= Promise.allSettled(underWay).then(() => {
        appends.close()
        connection.close()
      })
      return released
    },
  }
}
