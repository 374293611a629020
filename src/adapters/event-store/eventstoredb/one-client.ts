import { EventStoreDBClient } from '@eventstore/db-client'
import { StoreUnavailable } from '../../../domain/ports/event-store-errors.js'
import { within } from './waiting.js'

/**
 * The one client of this process, as its users share it. It may be replaced by a new one, so ask for it each time.
 */
export interface SharedClient {
  readonly current: () => EventStoreDBClient
  /** Replaces a client that cannot recover by itself; nothing happens when that was done already. */
  readonly replace: (broken: EventStoreDBClient) => void
  readonly release: () => Promise<void>
}

interface Held {
  readonly url: string
  client: EventStoreDBClient
  users: number
}

/**
 * The package keeps all appends that wait for an answer in one map of the process: when the connection of one client
 * breaks, the appends of every other client are told that they failed. So a process has one client, kept here; whoever
 * opens the same URL again shares it.
 */
let held: Held | undefined

/** @throws StoreUnavailable while this process uses another EventStoreDB */
export const shareClient = (url: string): SharedClient => {
  if (held !== undefined && held.url !== url)
    throw new StoreUnavailable('this process already uses another EventStoreDB')
  const mine = held ?? { url, client: EventStoreDBClient.connectionString(url), users: 0 }
  held = mine
  mine.users += 1

  return {
    current: () => mine.client,
    replace: (broken) => {
      if (mine.client !== broken) return
      mine.client = EventStoreDBClient.connectionString(url)
      void disposeOf(broken)
    },
    release: async () => {
      mine.users -= 1
      if (mine.users > 0) return
      held = undefined
      await disposeOf(mine.client)
    },
  }
}

/** A call that does not end must not hold up the end of the program. */
const DISPOSE_MS = 1000

/** `dispose` ends the calls; the channel would stay. */
const disposeOf = async (client: EventStoreDBClient): Promise<void> => {
  await within(client.dispose(), DISPOSE_MS).catch(() => undefined)
  const channel = await client['getChannel']().catch(() => undefined)
  channel?.close()
}
