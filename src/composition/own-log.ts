import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { EventStore } from '../kernel/ports/event-store.js'
import { OperatorError } from '../kernel/ports/operator-error.js'

/**
 * Opens the log of a data directory. Where the log is lost, the read models and the blobs are the last copy of the data,
 * and a new log would empty them.
 *
 * @throws OperatorError
 */
export const openOwnLog = async (
  directory: string,
  open: (path: string) => EventStore,
): Promise<EventStore> => {
  const path = join(directory, 'events.db')
  const left = ['clickhouse', 'blobs'].filter((name) => hasContent(join(directory, name)))
  if (left.length > 0 && (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0)
    throw lostLog(`${path} is missing or empty`, left)
  const eventStore = open(path)
  // An interrupted first start leaves tables without rows, but no blobs.
  if (!left.includes('blobs') || (await eventStore.head()) > 0n) return eventStore
  await eventStore.close()
  throw lostLog(`${path} has no events`, left)
}

export const lostLog = (reason: string, left: readonly string[]): OperatorError =>
  new OperatorError(
    `TALLYTREE_DATA_DIR: ${reason}, but there is data in ${left.map((name) => `${name}/`).join(' and ')}. ` +
      'Nothing was changed. Restore events.db from a backup, or set EVENTSTORE_URL if the log is on a server. ' +
      'To begin with an empty log, move clickhouse/, blobs/, log-tree.db and log-keys out of the directory first',
  )

const hasContent = (directory: string): boolean =>
  existsSync(directory) && readdirSync(directory).some((name) => name !== 'incoming')
