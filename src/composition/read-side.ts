import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '../adapters/system/system.js'
import { rowsToStoreFrom } from '../application/evaluations/run-rows.js'
import type { ProjectionLag } from '../application/throttle.js'
import type { History, ReadableProjection } from '../application/reading/reading.js'
import type { Config } from '../config.js'
import { ClickHouseUnavailable, type ClickHouse } from '../kernel/ports/clickhouse.js'
import type { Clock } from '../kernel/ports/clock.js'
import type { LoopWatch } from '../kernel/loop-watch.js'
import type { EventStore, Position } from '../kernel/ports/event-store.js'
import type { Log } from '../kernel/ports/log.js'
import { projections } from '../projections/all.js'
import { startEvaluationRows } from '../projections/evaluations/rows-pass.js'
import { rebuildsIn } from '../projections/rebuilds/queries.js'
import { startRebuilder } from '../projections/rebuilds/rebuilder.js'
import { dropFormerReleases, dropTables, migrate, schemaState } from '../projections/migrate.js'
import { followReadState } from '../projections/runtime/read-state.js'
import { findLogMismatch, lossesOf } from '../projections/runtime/checkpoint.js'
import { mayCheckFiles } from '../projections/runtime/damaged-files.js'
import { positionByTime } from '../projections/runtime/event-times.js'
import { notifier } from '../projections/runtime/notifier.js'
import { errorName } from '../projections/runtime/error-name.js'
import { blocksOf } from '../projections/runtime/table-note.js'
import { startProjector, type Projector } from '../projections/runtime/projector.js'
import { startTotals } from '../projections/usage/totals-pass.js'
import { KeyedMutex } from '../kernel/keyed-mutex.js'
import { startErasing } from './erasing.js'
import { keepTables } from './keep-tables.js'
import { lostLog } from './own-log.js'
import type { Stores } from './stores.js'

/** The read models as this process sees them: it projects them itself, or follows the projector's checkpoint. */
export interface ReadSide extends ReadableProjection, Pick<History, 'lastBy'> {
  /** Only present in the projector's process, which alone knows how far they lag. */
  readonly lagging?: ProjectionLag
  /** Number of events not yet projected. Only present in the projector's process. */
  readonly behind?: () => Promise<number>
  readonly quarantined: () => number
  /** Why projecting fails now. Only present in the projector's process. */
  readonly failing?: () => string | undefined
  readonly stop: () => Promise<void>
}

/** For readers in other processes: they see only the checkpoint, and cannot ask for a batch to be written at once. */
const READ_BY_OTHER_PROCESSES = { gatherMs: 100, checkpointMs: 0 }

/**
 * Checks that the database belongs to this log. In the projector's process it also creates the tables, or replaces those
 * of an earlier release, and starts the projector and the rebuilder.
 *
 * @throws ClickHouseUnavailable when the database of a server was filled from another log
 */
export const openReadSide = async (
  config: Pick<Config, 'roles' | 'eventStoreUrl' | 'clickHouseUrl'>,
  stores: Pick<Stores, 'eventStore' | 'blobs' | 'clickHouse' | 'health'>,
  clock: Clock,
  log: Log,
  loop?: LoopWatch,
): Promise<ReadSide> => {
  const { roles, eventStoreUrl, clickHouseUrl } = config
  const { eventStore, clickHouse } = stores
  await clickHouse.prepare()
  const unreadable = await requireOwnDatabase(config, clickHouse, eventStore, log)
  if (!roles.has('projector'))
    return {
      ...(await followReadState(clickHouse.reader, eventStore, log)),
      lastBy: positionByTime(clickHouse.reader),
    }
  const othersMs = clickHouseUrl === null ? 0 : SEEN_MS
  const lost =
    unreadable === undefined ? await lostWhileStopped(clickHouse, eventStore, othersMs) : [unreadable]
  if (lost.length > 0) {
    log.error('projection.tables_damaged', { lost, so: 'the read models are filled again from the log' })
    await dropTables(clickHouse.writer)
  }
  if (await migrate(clickHouse.writer)) logUpgrade(log)
  const lacks = [
    (await blocksOf(clickHouse.writer)) === undefined ? ['SELECT ON system.parts'] : [],
    (await mayCheckFiles(clickHouse.writer)) ? [] : [`CHECK ON ${clickHouse.database}.*`],
  ].flat()
  if (lacks.length > 0) log.warn('projection.tables_not_compared', { lacks: lacks.join(', ') })
  const head = await eventStore.head()
  const looking = notifier()
  const projector = await startProjector({
    ...stores,
    clickHouse: clickHouse.writer,
    projections,
    log,
    loop,
    claimMs: othersMs,
    onLoss: looking.notify,
    ...(roles.has('api') ? {} : READ_BY_OTHER_PROCESSES),
  })
  const stopping = new AbortController()
  const dropping =
    clickHouseUrl === null ? undefined : dropFormer(clickHouse, log, projector, head, stopping.signal)
  const totals = startTotals({
    reader: clickHouse.reader,
    writer: clickHouse.writer,
    reached: projector.projected,
    nextInsert: projector.nextInsert,
    log,
  })
  const evaluationRows = startEvaluationRows({
    ...clickHouse,
    rowsOf: rowsToStoreFrom(clickHouse.reader, { reading: projector, sha256 }),
    reached: projector.projected,
    nextInsert: projector.nextInsert,
    log,
  })
  const tableChanges = new KeyedMutex()
  const exclusively = (work: () => Promise<void>) => tableChanges.runExclusive('tables', work)
  const tables = keepTables({
    ...stores,
    log,
    projector,
    passes: { whileStopped: (exchange) => evaluationRows.whileStopped(() => totals.whileStopped(exchange)) },
    looking,
    othersMs,
    lost,
    createdAt: projector.startedAt === 0n ? head : 0n,
    rebuilding: (tablesCreatedAt, whileStopped) =>
      startRebuilder({
        ...stores,
        projections,
        log,
        clock,
        tablesCreatedAt,
        nextInsert: projector.nextInsert,
        exclusively,
        projector: { reached: projector.reached, whileStopped },
      }),
  })
  const erasing = await startErasing({
    ...stores,
    projector,
    // Rows of evaluations that were read before must not be stored afterwards.
    exclusively: (work) => exclusively(() => evaluationRows.whileStopped(work)),
    log,
  })
  return {
    ...projector,
    generation: () => `${projector.generation()}${erasing.generation()}`,
    lagging: projector,
    rebuilding: tables.refilling,
    failing: () => projector.failing() ?? tables.refilling() ?? lateness(projector.lagMs()),
    // Only positions of the embedded log have no gaps, so only they can be subtracted.
    behind: async () =>
      eventStoreUrl === null ? Number((await eventStore.head()) - projector.reached()) : projector.behind(),
    stop: async () => {
      stopping.abort()
      await dropping
      await erasing.stop()
      await tables.stop()
      await evaluationRows.stop()
      await totals.stop()
      await projector.stop()
    },
  }
}

/** Writes are paced long before. */
const LATE_MS = 10_000

const lateness = (lagMs: number): string | undefined =>
  lagMs < LATE_MS ? undefined : `the read models are ${Math.round(lagMs / 1000)} s behind the event log`

/** In this time other processes see that a database is claimed, or that its tables are gone. */
const SEEN_MS = 1500

/**
 * Empty for tables that are replaced anyway, and while a rebuild is between two exchanges, which it completes. What seems
 * lost may be what another process has not created yet.
 */
const lostWhileStopped = async (
  { reader, writer }: ClickHouse,
  eventStore: EventStore,
  othersMs: number,
): Promise<readonly string[]> => {
  if ((await schemaState(writer).catch(asUnreadable)) !== 'current') return []
  if (othersMs > 0 && (await lossesOf(writer, eventStore).catch(() => [''])).length > 0) await sleep(othersMs)
  const losses = await lossesOf(writer, eventStore).catch((error: unknown) => [asUnreadable(error).reason])
  if (losses.length === 0) return losses
  const swapping = await rebuildsIn(reader, ['swapping'], 1).catch(() => [])
  return swapping.length > 0 ? [] : losses
}

/**
 * If the database was filled from another log, the embedded one is emptied. One on a server is refused, because another
 * deployment may use it. Returns why the tables of the embedded one cannot be read.
 */
const requireOwnDatabase = async (
  { eventStoreUrl, clickHouseUrl }: Pick<Config, 'eventStoreUrl' | 'clickHouseUrl'>,
  clickHouse: ClickHouse,
  eventStore: EventStore,
  log: Pick<Log, 'info' | 'error'>,
): Promise<string | undefined> => {
  const mismatch = await findLogMismatch(clickHouse.writer, eventStore).catch(asUnreadable)
  if (mismatch === undefined) return undefined
  const { kind, reason } = mismatch
  if (clickHouseUrl !== null)
    throw new ClickHouseUnavailable(
      'refusing',
      `CLICKHOUSE_URL: the database "${clickHouse.database}" does not belong to the event log ` +
        `${eventStoreUrl === null ? 'in TALLYTREE_DATA_DIR' : 'at EVENTSTORE_URL'}: ${reason}. Nothing was changed in it. ` +
        'Name another database, which is created and filled from the log; or, if no other deployment uses this one, drop it ' +
        'and start again',
    )
  if (eventStoreUrl === null && (await eventStore.head()) === 0n)
    throw lostLog('the log has no events', ['clickhouse'])
  if (kind === 'unreadable') return reason
  if (kind === 'earlier_release') logUpgrade(log)
  else
    log.error(`projection.${kind}`, {
      reason: `${reason}; the read models are emptied and filled from the log`,
    })
  await dropTables(clickHouse.writer)
  return undefined
}

/** A damaged file may also ask for more memory than there is, which is a busy engine otherwise. */
const asUnreadable = (error: unknown) => {
  if (!(error instanceof ClickHouseUnavailable) || (error.why !== 'damaged' && error.why !== 'busy'))
    throw error
  return { kind: 'unreadable' as const, reason: `the checkpoint cannot be read (${error.message})` }
}

/** Once this release has filled its own tables. */
const dropFormer = async (
  clickHouse: ClickHouse,
  log: Pick<Log, 'info' | 'warn'>,
  { reached, nextInsert }: Pick<Projector, 'reached' | 'nextInsert'>,
  head: Position,
  signal: AbortSignal,
): Promise<void> => {
  while (reached() < head && !signal.aborted) await nextInsert(LATE_MS, signal)
  if (signal.aborted) return
  try {
    const databases = await dropFormerReleases(clickHouse)
    if (databases.length > 0) log.info('projection.former_releases_dropped', { databases })
  } catch (error) {
    log.warn('projection.former_releases_kept', { error: errorName(error) })
  }
}

/** What every release does that changes the tables. */
const logUpgrade = (log: Pick<Log, 'info'>): void =>
  log.info('projection.upgrading', { reason: 'the read models are rebuilt for this release' })
