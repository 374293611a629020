import type { ProjectionLag } from '../api/throttle.js'
import type { ReadableProjection } from '../api/reading.js'
import type { Config } from '../config.js'
import { ClickHouseUnavailable, type ClickHouse } from '../domain/ports/clickhouse.js'
import type { Clock } from '../domain/ports/clock.js'
import type { EventStore } from '../domain/ports/event-store.js'
import type { Log } from '../domain/ports/log.js'
import { projections } from '../projections/all.js'
import { startRebuilder } from '../projections/rebuild/rebuilder.js'
import { migrate } from '../projections/migrate.js'
import { followCheckpoint } from '../projections/runtime/follow-checkpoint.js'
import { emptyReadModels, findLogMismatch, noteSourceLog } from '../projections/runtime/log-identity.js'
import { startProjector } from '../projections/runtime/projector.js'
import type { Stores } from './stores.js'

/** What a process knows of the read models: it makes them itself, or follows the process that does. */
export interface ReadSide extends ReadableProjection {
  /** Absent where they are made elsewhere: how far behind they are, is then not for this process to say. */
  readonly lagging?: ProjectionLag
  /** Events of the log whose rows cannot be read yet; absent where they are made elsewhere. */
  readonly behind?: () => Promise<number>
  readonly quarantined: () => number
  /** What keeps this process from making them, where it does. */
  readonly failing?: () => string | undefined
  readonly stop: () => Promise<void>
}

/** Another process cannot hurry a batch, and sees what the checkpoint says. */
const SEEN_FROM_ELSEWHERE = { gatherMs: 100, checkpointMs: 0 }

/**
 * Checks that the database belongs to this log, brings its tables up to date and, in the projector's process, starts to
 * fill it.
 *
 * @throws ClickHouseUnavailable when the database of a server was filled from another log
 */
export const openReadSide = async (
  config: Pick<Config, 'roles' | 'eventStoreUrl' | 'clickHouseUrl'>,
  stores: Pick<Stores, 'eventStore' | 'blobs' | 'clickHouse'>,
  clock: Clock,
  log: Log,
): Promise<ReadSide> => {
  const { roles, eventStoreUrl } = config
  const { eventStore, clickHouse } = stores
  await requireOwnDatabase(config, clickHouse, eventStore, log)
  await migrate(clickHouse.writer)
  if (!roles.has('projector')) return followCheckpoint(clickHouse.reader, eventStore, log)
  const head = await eventStore.head()
  const projector = await startProjector({
    ...stores,
    clickHouse: clickHouse.writer,
    projections,
    log,
    noteSource: () => noteSourceLog(clickHouse.writer, eventStore),
    ...(roles.has('api') ? {} : SEEN_FROM_ELSEWHERE),
  })
  const madeAt = projector.startedAt === 0n ? head : 0n
  const rebuilder = startRebuilder({ ...stores, projections, log, clock, projector, madeAt })
  return {
    ...projector,
    lagging: projector,
    // The embedded log numbers its events without gaps; the positions of others are not to be counted with.
    behind: async () =>
      eventStoreUrl === null ? Number((await eventStore.head()) - projector.reached()) : projector.behind(),
    stop: async () => {
      await rebuilder.stop()
      await projector.stop()
    },
  }
}

/**
 * The database of the embedded engine belongs to this process, so that it can be emptied and filled again. One of a server
 * may be in use by another deployment.
 */
const requireOwnDatabase = async (
  { eventStoreUrl, clickHouseUrl }: Pick<Config, 'eventStoreUrl' | 'clickHouseUrl'>,
  clickHouse: ClickHouse,
  eventStore: EventStore,
  log: Pick<Log, 'error'>,
): Promise<void> => {
  const mismatch = await findLogMismatch(clickHouse.writer, clickHouse.database, eventStore)
  if (mismatch === undefined) return
  const { kind, reason } = mismatch
  if (clickHouseUrl !== null)
    throw new ClickHouseUnavailable(
      'refusing',
      `CLICKHOUSE_URL: the database "${clickHouse.database}" does not belong to the event log ` +
        `${eventStoreUrl === null ? 'in TALLYTREE_DATA_DIR' : 'at EVENTSTORE_URL'}: ${reason}. Nothing was changed in it. ` +
        'Name another database, which is created and filled from the log; or, if no other deployment uses this one, drop it ' +
        'and start again',
    )
  log.error(`projection.${kind}`, {
    reason: `${reason}; the read models are emptied and filled from the log`,
  })
  await emptyReadModels(clickHouse)
}
