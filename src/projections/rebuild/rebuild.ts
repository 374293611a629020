import { instantOf } from '../../domain/codec/instant.js'
import type { ClickHouse } from '../../domain/ports/clickhouse.js'
import type { Clock } from '../../domain/ports/clock.js'
import type { EventStore, Position } from '../../domain/ports/event-store.js'
import { digestsOf } from '../digests/queries.js'
import { migrate } from '../migrate.js'
import { rebuildRows, type Rebuild } from '../rebuilds/rebuild-row.js'
import { startProjector, type Projector, type ProjectorOptions } from '../runtime/projector.js'
import { modelTables } from './model-tables.js'
import { paceOf, type Look } from './pace.js'
import { swapTables } from './swap.js'

export interface Rebuilding extends Omit<ProjectorOptions, 'clickHouse'> {
  readonly eventStore: Pick<EventStore, 'subscribeAll' | 'readStream' | 'head'>
  readonly clickHouse: ClickHouse
  readonly clock: Clock
  /** The projector of the tables in use. */
  readonly projector: Pick<Projector, 'reached' | 'whileStopped'>
  readonly signal: AbortSignal
}

const LOOK_MS = 1000

/**
 * Makes all read models anew from the log, in a database beside the one in use; compares what both say as of the same
 * position; then swaps the tables, between two batches of the projector. Taken up again with the same row after it was
 * cut off, it goes on where its own checkpoint is, or where it was in swapping.
 */
export const rebuild = async (rebuilding: Rebuilding, requested: Rebuild): Promise<void> => {
  const { clickHouse, clock, projector, signal } = rebuilding
  const besides = `${clickHouse.database}_rebuild_${requested.id.replaceAll(/\W/g, '')}`
  const now = () => instantOf(clock.now())
  const isOver = () => signal.aborted
  let latest = requested

  const note = async (news: Partial<Rebuild>) => {
    latest = { ...latest, ...news, version: latest.version + 1 }
    await clickHouse.writer.insert(rebuildRows([latest]))
  }

  const follow = async (rebuilt: Counting) => {
    const from = rebuilt.look()
    while (!isOver() && rebuilt.look().reached < projector.reached()) {
      await rebuilt.projector.waitFor(projector.reached(), LOOK_MS)
      const look = rebuilt.look()
      const target = await rebuilding.eventStore.head()
      await note({ reached: look.reached, target, events: look.events, ...paceOf(from, look, target) })
    }
  }

  const swap = async (other: ClickHouse) => {
    if (latest.state !== 'swapping')
      await note({ state: 'swapping', rebuilt: await modelTables(other.writer, other.database) })
    await swapTables(clickHouse, besides, latest.rebuilt, (statement) => clickHouse.writer.command(statement))
  }

  const other = await clickHouse.beside(besides)
  try {
    if (latest.state === 'swapping') await projector.whileStopped(() => swap(other))
    else {
      await note({ state: 'running', started_at: latest.started_at ?? now() })
      await migrate(other.writer)
      const rebuilt = await counting(rebuilding, other)
      try {
        await follow(rebuilt)
        if (isOver()) return
        await note({ changed_models: await changedModels(clickHouse, other, least(rebuilt, projector)) })
        await projector.whileStopped(async (position) => {
          while (!isOver() && !(await rebuilt.projector.waitFor(position, LOOK_MS)));
          await rebuilt.projector.stop()
          if (!isOver()) await swap(other)
        })
        if (isOver()) return
      } finally {
        await rebuilt.projector.stop()
      }
    }
    await other.writer.command(`DROP DATABASE IF EXISTS ${besides} SYNC`)
    await note({ state: 'finished', finished_at: now(), remaining_seconds: 0 })
  } finally {
    await other.close()
  }
}

interface Counting {
  readonly projector: Projector
  readonly look: () => Look
}

/** A projector into other tables, and how many events of the log it took. */
const counting = async (rebuilding: Rebuilding, { writer }: ClickHouse): Promise<Counting> => {
  let events = 0
  const eventStore: ProjectorOptions['eventStore'] = {
    readStream: (stream, options) => rebuilding.eventStore.readStream(stream, options),
    async *subscribeAll(options) {
      for await (const item of rebuilding.eventStore.subscribeAll(options)) {
        if (item.kind === 'event') events += 1
        yield item
      }
    },
  }
  const projector = await startProjector({ ...rebuilding, eventStore, clickHouse: writer })
  return { projector, look: () => ({ at: performance.now(), reached: projector.reached(), events }) }
}

const least = (rebuilt: Counting, projector: Pick<Projector, 'reached'>): Position => {
  const [one, other] = [rebuilt.projector.reached(), projector.reached()]
  return one < other ? one : other
}

/** The read models of which the two databases say different things as of a position. */
const changedModels = async (
  { reader }: Pick<ClickHouse, 'reader'>,
  other: Pick<ClickHouse, 'reader'>,
  position: Position,
): Promise<readonly string[]> => {
  const before = new Map((await digestsOf(reader, position)).map(({ model, digest }) => [model, digest]))
  const after = await digestsOf(other.reader, position)
  return after.filter(({ model, digest }) => before.get(model) !== digest).map(({ model }) => model)
}
