import { EventStoreDBClient } from '@eventstore/db-client'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import { within } from './waiting.js'

/**
 * The one client of this process, as its users share it. It may be replaced by a new one, so ask for it each time.
 */
export interface SharedClient {
  readonly current: () => EventStoreDBClient
  /** Replaces a client that cannot recover by itself; nothing happens when that was done already. */
  readonly replace: (broken: EventStoreDBClient) => void
  /** The server said something. */
  readonly heard: () => void
  /** Nothing came in time. Once that has lasted, the client is replaced. */
  readonly notHeard: () => void
  readonly release: () => Promise<void>
}

interface Held {
  readonly url: string
  client: EventStoreDBClient
  /** Since when what is waited for does not come, by the clock of `performance`; undefined while it does. */
  silentSince: number | undefined
  users: number
}

/**
 * The package keeps all appends that wait for an answer in one map of the process: when the connection of one client
 * breaks, the appends of every other client are told that they failed. So a process has one client, kept here; whoever
 * opens the same URL again shares it.
 */
let held: Held | undefined

/**
 * A connection that was taken and on which nothing is ever said is waited for without end: what looks after connections
 * begins when they are made.
 */
const SILENT_MS = 10_000

const clientOf = (url: string) => ({
  client: EventStoreDBClient.connectionString(url),
  silentSince: undefined,
})

/** @throws StoreUnavailable while this process uses another EventStoreDB */
export const shareClient = (url: string): SharedClient => {
  if (held !== undefined && held.url !== url)
    throw new StoreUnavailable('this process already uses another EventStoreDB')
  const mine: Held = held ?? { url, ...clientOf(url), users: 0 }
  held = mine
  mine.users += 1

  const replace = (broken: EventStoreDBClient): void => {
    if (mine.client !== broken) return
    Object.assign(mine, clientOf(url))
    void disposeOf(broken)
  }

  return {
    current: () => mine.client,
    replace,
    heard: () => {
      mine.silentSince = undefined
    },
    notHeard: () => {
      mine.silentSince ??= performance.now()
      if (performance.now() - mine.silentSince > SILENT_MS) replace(mine.client)
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
