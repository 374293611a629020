import { instantOf } from '../../kernel/codec/instant.js'
import type { ClickHouse, ClickHouseWriter } from '../../kernel/ports/clickhouse.js'
import type { Clock } from '../../kernel/ports/clock.js'
import type { EventStore } from '../../kernel/ports/event-store.js'
import { retry } from '../../kernel/backoff.js'
import { migrate } from '../migrate.js'
import type { ProjectorOptions } from '../runtime/inserting.js'
import { startProjector, type Projector } from '../runtime/projector.js'
import { readTotalsState } from '../usage/totals-state.js'
import { noteTarget, runTotalsPass } from '../usage/totals-pass.js'
import { tableIdentities } from './table-identities.js'
import type { Rebuild } from './queries.js'
import { REBUILDS } from './tables.js'

export interface RebuildOptions extends Omit<ProjectorOptions, 'clickHouse'> {
  readonly eventStore: Pick<EventStore, 'subscribeAll' | 'readStream' | 'head'>
  readonly clickHouse: ClickHouse
  readonly clock: Clock
  /** The projector of the tables in use. */
  readonly projector: Pick<Projector, 'reached' | 'whileStopped'>
  readonly signal: AbortSignal
}

/** The row of a rebuild, which each update replaces. */
export interface RebuildLog {
  readonly latest: () => Rebuild
  readonly update: (changes: Partial<Rebuild>) => Promise<void>
}

export const rebuildLog = (writer: ClickHouseWriter, request: Rebuild): RebuildLog => {
  let latest = request
  return {
    latest: () => latest,
    update: async (changes) => {
      latest = { ...latest, ...changes, version: latest.version + 1 }
      await writer.insert(REBUILDS.rows([latest]))
    },
  }
}

const UPDATE_MS = 1000
const BACKOFF = { firstMs: 100, maxMs: 2000 }

/**
 * Fills a second database from the log, then exchanges its tables for those in use, their checkpoint included, and lets
 * the projector continue from that checkpoint. It can be killed at any moment and repeated: filling continues from the
 * second database's checkpoint, and exchanging leaves out the tables that are in place.
 */
export const rebuild = async (options: RebuildOptions, row: RebuildLog): Promise<void> => {
  const { clickHouse, clock, projector, signal } = options
  const now = () => instantOf(clock.now())
  const name = secondDatabase(clickHouse, row.latest())
  const second = await clickHouse.beside(name)
  try {
    if (row.latest().state === 'swapping')
      await projector.whileStopped(() => exchangeTables(clickHouse, name, row, signal))
    else {
      await row.update({ state: 'running', started_at: row.latest().started_at ?? now() })
      await fillAndExchange(options, second, row)
    }
    if (signal.aborted) return
    await second.writer.command(`DROP DATABASE IF EXISTS ${name} SYNC`)
    await row.update({ state: 'finished', finished_at: now(), remaining_seconds: 0 })
  } finally {
    await second.close()
  }
}

const fillAndExchange = async (options: RebuildOptions, second: ClickHouse, row: RebuildLog) => {
  const { clickHouse, projector, signal } = options
  await migrate(second.writer)
  const { filling, events } = await startFilling(options, second)
  try {
    const progress = progressFrom(filling.reached())
    while (filling.reached() < projector.reached() && !signal.aborted) {
      await filling.waitFor(projector.reached(), UPDATE_MS)
      const target = await options.eventStore.head()
      await row.update(progress(filling.reached(), events(), target))
    }
    if (signal.aborted) return
    // The first may take minutes, the second what changed meanwhile.
    for (let passes = 0; passes < 2; passes += 1) await runTotalsPass(second, filling.reached(), signal)
    await projector.whileStopped(async (position) => {
      // Reads never go back: the new tables must have all that the old ones have.
      while (!signal.aborted && !(await filling.waitFor(position, UPDATE_MS)));
      await filling.stop()
      await runTotalsPass(second, position, signal)
      if (signal.aborted) return
      await noteTarget(clickHouse.writer, (await readTotalsState(second.reader)).complete)
      const rebuilt = await tableIdentities(second.writer, second.database)
      await row.update({ state: 'swapping', reached: filling.reached(), events: events(), rebuilt })
      options.log.info('rebuild.exchanging', { id: row.latest().id, position: String(filling.reached()) })
      await exchangeTables(clickHouse, second.database, row, signal)
    })
  } finally {
    await filling.stop()
  }
}

export const secondDatabase = ({ database }: Pick<ClickHouse, 'database'>, { id }: Pick<Rebuild, 'id'>) =>
  `${database}_rebuild_${id.replaceAll(/\W/g, '')}`

/** A projector into the second database, and the number of events that it has read. */
const startFilling = async (options: RebuildOptions, { writer }: ClickHouse) => {
  let events = 0
  const eventStore: ProjectorOptions['eventStore'] = {
    ...options.eventStore,
    async *subscribeAll(subscription) {
      for await (const item of options.eventStore.subscribeAll(subscription)) {
        if (item.kind === 'event') events += 1
        yield item
      }
    },
  }
  const filling = await startProjector({ ...options, eventStore, clickHouse: writer })
  return { filling, events: () => events }
}

/** Positions have gaps, so the time that remains is estimated from the share of positions. */
const progressFrom = (from: bigint) => {
  const startedAt = performance.now()
  return (reached: bigint, events: number, target: bigint): Partial<Rebuild> => {
    const seconds = (performance.now() - startedAt) / 1000
    const [done, left] = [Number(reached - from), Number(target - reached)]
    const remaining_seconds = left <= 0 ? 0 : done <= 0 ? null : (left / done) * seconds
    return { reached, target, events, events_per_second: events / seconds, remaining_seconds }
  }
}

/**
 * Exchanges each table in one step that no read notices. After a crash between two exchanges the projector may run before
 * the rest is exchanged: every table has all events up to the checkpoint in use, which is exchanged last.
 */
const exchangeTables = async (
  { database, writer }: Pick<ClickHouse, 'database' | 'writer'>,
  second: string,
  row: RebuildLog,
  signal: AbortSignal,
): Promise<void> => {
  const exchange = async () => {
    const inUse = await tableIdentities(writer, database)
    const ready = await tableIdentities(writer, second)
    for (const [table, identity] of Object.entries(row.latest().rebuilt).sort(checkpointsLast)) {
      if (inUse[table] === identity) continue
      if (ready[table] !== identity) throw new TablesMissing(`the table ${second}.${table} is gone`)
      await writer.command(`EXCHANGE TABLES ${database}.${table} AND ${second}.${table}`)
    }
  }
  const again = (error: unknown) => !signal.aborted && !(error instanceof TablesMissing)
  await retry(exchange, again, { ...BACKOFF, signal })
}

/** The second database was dropped. */
class TablesMissing extends Error {
  override readonly name = 'TablesMissing'
}

const checkpointsLast = ([a]: readonly [string, string], [b]: readonly [string, string]): number =>
  Number(a === 'checkpoints') - Number(b === 'checkpoints')
