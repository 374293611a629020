import { setTimeout as sleep } from 'node:timers/promises'
import { retry } from '../kernel/backoff.js'
import { ClickHouseUnavailable } from '../kernel/ports/clickhouse.js'
import type { Position } from '../kernel/ports/event-store.js'
import type { Log } from '../kernel/ports/log.js'
import { dropTables, migrate } from '../projections/migrate.js'
import { damagedFiles } from '../projections/runtime/damaged-files.js'
import { errorName } from '../projections/runtime/error-name.js'
import { followFilling } from '../projections/runtime/filling.js'
import type { Notifier } from '../projections/runtime/notifier.js'
import type { Projector } from '../projections/runtime/projector.js'
import type { Repeating } from '../projections/runtime/repeating.js'
import { watchTables } from '../projections/runtime/table-watch.js'
import type { Stores } from './stores.js'

type WhileStopped = Projector['whileStopped']

interface Keeping extends Pick<Stores, 'clickHouse' | 'eventStore' | 'health'> {
  readonly log: Log
  readonly projector: Projector
  /** What fills tables from those of the projector. */
  readonly passes: Pick<Repeating, 'whileStopped'>
  /** Notified when it is time to look at the tables. */
  readonly looking: Notifier
  /** How long other processes may take to see that tables are gone. */
  readonly othersMs: number
  /** What tables had lost at the start, in words. */
  readonly lost: readonly string[]
  /** The end of the log when the tables were created; 0 where they existed before. */
  readonly createdAt: Position
  /** Starts to run the requested rebuilds. */
  readonly rebuilding: (
    tablesCreatedAt: Position,
    whileStopped: WhileStopped,
  ) => { readonly stop: () => Promise<void> }
}

export interface KeptTables {
  /** The progress while tables are filled from the log. */
  readonly refilling: () => string | undefined
  readonly stop: () => Promise<void>
}

/** However many reads there are, or fail. While nothing is read, nothing is looked at. */
const LOOK_EVERY_MS = 10_000

/** Rebuilds the tables on request, and fills them again from the log when they have lost something. */
export const keepTables = (keeping: Keeping): KeptTables => {
  const { clickHouse, eventStore, health, log, projector, passes, looking, lost, createdAt } = keeping
  const { knownParts } = clickHouse.reader
  let exchanges = 0
  let isExchanging = false
  const whileStopped: WhileStopped = async (exchange) => {
    isExchanging = true
    try {
      await passes.whileStopped(() => projector.whileStopped(exchange))
    } finally {
      isExchanging = false
      exchanges += 1
    }
  }
  let filling: Pick<ReturnType<typeof followFilling>, 'progress' | 'stop'> = followFilling(
    projector,
    createdAt,
    log,
  )
  let rebuilder = keeping.rebuilding(createdAt, whileStopped)
  let damage = lost.join(', ')
  let hasReadFiles = false
  let lookedAt = -Infinity

  const watch = watchTables({
    log,
    looking,
    losses: async (signal) => {
      const before = exchanges
      const losses = await projector.losses()
      const damaged = hasReadFiles || losses.length > 0 ? [] : await damagedFiles(clickHouse.reader, signal)
      hasReadFiles = true
      lookedAt = performance.now()
      // Tables that are being exchanged are not those of the checkpoint.
      return exchanges === before && !isExchanging ? [...losses, ...damaged] : []
    },
    refill: async (losses, ready, signal) => {
      damage = losses.join(', ')
      filling.stop()
      filling = { progress: () => 'the read models are created again', stop: () => undefined }
      knownParts.lost = `${damage}; the read models are filled again from the log`
      await rebuilder.stop()
      const last = await eventStore.head()
      await passes.whileStopped(async () => {
        await projector.whileStopped(() => ready().then(() => createAgain(keeping, signal)))
        filling = followFilling(projector, last, log)
        while (!signal.aborted && !(await projector.waitFor(last, LOOK_EVERY_MS)))
          if ((await projector.losses()).length > 0) return
        knownParts.lost = undefined
      })
      rebuilder = keeping.rebuilding(last, whileStopped)
    },
  })
  health.onUse('reads', (error) => {
    const isDamaged = error instanceof ClickHouseUnavailable && error.why === 'damaged'
    const isLongAgo = performance.now() - lookedAt > LOOK_EVERY_MS
    if (isDamaged && isLongAgo) hasReadFiles = false
    if (isDamaged || isLongAgo) looking.notify()
  })
  return {
    refilling: () => {
      const progress = filling.progress()
      return progress === undefined || damage === '' ? progress : `${damage}; ${progress}`
    },
    stop: async () => {
      await watch.stop()
      filling.stop()
      await rebuilder.stop()
    },
  }
}

/** Until it succeeds: without its tables nothing can be read. */
const createAgain = (
  { clickHouse, log, othersMs }: Pick<Keeping, 'clickHouse' | 'log' | 'othersMs'>,
  signal: AbortSignal,
): Promise<void> =>
  retry(
    async () => {
      await clickHouse.prepare()
      await dropTables(clickHouse.writer)
      await sleep(othersMs, undefined, { signal, ref: false }).catch(() => undefined)
      await migrate(clickHouse.writer)
    },
    (error, tries) => {
      if (tries === 1) log.error('projection.tables_not_created', { error: errorName(error) })
      return !signal.aborted
    },
    { firstMs: 100, maxMs: 5000, signal },
  )
