import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteEventStore } from '../adapters/event-store/sqlite/sqlite-event-store.js'
import { systemIds, randomKey, sha256, systemClock } from '../adapters/system/system.js'
import { ADMINISTRATOR } from '../application/access/bootstrap.js'
import { makeKey } from '../application/access/new-key.js'
import { openEventStoreServer } from '../composition/event-store-server.js'
import type { Config } from '../config.js'
import { accessDecider } from '../domain/access/decider.js'
import { ACCESS_STREAM } from '../domain/access/events.js'
import { execute } from '../kernel/execute.js'
import type { EventStore } from '../kernel/ports/event-store.js'
import { OperatorError } from '../kernel/ports/operator-error.js'

/**
 * `tallytree keys issue`: issues an API key for a user who lost theirs, by default the administrator, and prints it.
 * Returns the exit code.
 */
export const issueKey = async (user: string = ADMINISTRATOR, config: Config): Promise<number> => {
  const eventStore = await openLog(config)
  try {
    const ports = { eventStore, ids: systemIds, clock: systemClock, sha256, randomKey }
    const { key, known } = makeKey(ports, null)
    const id = systemIds.next()
    const cause = { correlationId: id, causationId: id, actor: 'system' }
    const command = { type: 'IssueApiKey', user, key: known } as const
    const { refusals } = await execute(ports)(accessDecider, ACCESS_STREAM, [command], cause)
    const refused = refusals.get(0)
    if (refused !== undefined) throw new OperatorError(`cannot issue a key for ${user}: ${refused.reason}`)
    process.stdout.write(`API key of ${user} (shown this once): ${key}\n`)
    return 0
  } finally {
    await eventStore.close()
  }
}

const openLog = async ({ dataDirectory, eventStoreUrl }: Config): Promise<EventStore> => {
  if (eventStoreUrl !== null) return openEventStoreServer(eventStoreUrl)
  const path = join(dataDirectory, 'events.db')
  if ((await stat(path).catch(() => undefined)) === undefined)
    throw new OperatorError(`${dataDirectory} does not contain a log (events.db); see TALLYTREE_DATA_DIR`)
  return openSqliteEventStore(path)
}
