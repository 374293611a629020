import type { Lagging } from '../api/throttle.js'
import type { Readable } from '../api/reading.js'
import type { Config } from '../config.js'
import type { Clock } from '../domain/ports/clock.js'
import type { Log } from '../domain/ports/log.js'
import { projections } from '../projections/all.js'
import { startRebuilder } from '../projections/rebuild/rebuilder.js'
import { emptyIfOfAnotherLog } from '../projections/runtime/another-log.js'
import { followCheckpoint } from '../projections/runtime/follow-checkpoint.js'
import { startProjector } from '../projections/runtime/projector.js'
import type { Stores } from './stores.js'

/** What a process knows of the read models: it makes them itself, or follows the process that does. */
export interface ReadSide extends Readable {
  /** Absent where they are made elsewhere: how far behind they are, is then not for this process to say. */
  readonly lagging?: Lagging
  /** Events of the log whose rows cannot be read yet; absent where they are made elsewhere. */
  readonly behind?: () => Promise<number>
  readonly quarantined: () => number
  /** What keeps this process from making them, where it does. */
  readonly failing?: () => string | undefined
  readonly stop: () => Promise<void>
}

/** Another process cannot hurry a batch, and sees what the checkpoint says. */
const SEEN_FROM_ELSEWHERE = { gatherMs: 100, checkpointMs: 0 }

export const openReadSide = async (
  { roles, eventStoreUrl, clickHouseUrl }: Pick<Config, 'roles' | 'eventStoreUrl' | 'clickHouseUrl'>,
  stores: Pick<Stores, 'eventStore' | 'blobs' | 'clickHouse'>,
  clock: Clock,
  log: Log,
): Promise<ReadSide> => {
  const { eventStore, clickHouse } = stores
  if (!roles.has('projector')) return followCheckpoint(clickHouse.reader, log)
  const head = await eventStore.head()
  // Stores of other machines may answer late, and hold what others need: their operators restore both.
  if (eventStoreUrl === null && clickHouseUrl === null)
    await emptyIfOfAnotherLog(clickHouse, { head, eventStore }, log)
  const projector = await startProjector({
    ...stores,
    clickHouse: clickHouse.writer,
    projections,
    log,
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
