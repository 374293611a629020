import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { newEvent } from '../../../../src/kernel/event.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import type { EventStore, Position } from '../../../../src/kernel/ports/event-store.js'
import { migrate } from '../../../../src/projections/migrate.js'
import type { Projection } from '../../../../src/projections/projection.js'
import { startProjector } from '../../../../src/projections/runtime/projector.js'
import { openTestClickHouse } from '../../../support/engine.js'

const WAIT_MS = 60_000
/** Counts as many characters as it says. */
const LARGE = { size: 3_000_000 }
const LITTLE = { size: 0 }

/** A row for each event, which says no more than where it is in the log. */
const noting: Projection = {
  name: 'noting',
  rowsOf: (events) => [
    {
      table: 'noted',
      columns: ['team', 'position'],
      values: events.map(({ data, position }) => [(data as JsonObject)['project_id']!, String(position)]),
    },
  ],
}

describe('the lanes of the projector', () => {
  let clickHouse: ClickHouse
  const blobs = openInMemoryBlobStore()
  let eventStore: EventStore
  before(async () => (clickHouse = await openTestClickHouse()))
  beforeEach(async () => {
    await migrate(clickHouse.writer)
    await clickHouse.writer.command('TRUNCATE TABLE checkpoints')
    eventStore = openInMemoryEventStore()
  })
  after(() => clickHouse.close())

  const append = async (team: string | null, { size } = LITTLE): Promise<Position> => {
    const digest = await blobs.put(new TextEncoder().encode('"text"'))
    const spilled = size === 0 ? {} : { text: { digest, size, canonical: digest } }
    const data = { ...(team === null ? {} : { project_id: `${team}/p` }), spilled }
    const cause = { correlationId: randomUUID(), causationId: randomUUID(), actor: 'test' }
    const event = newEvent(randomUUID(), { type: 'Noted', data }, cause)
    return (await eventStore.append(`noted-${randomUUID()}`, 'none', [event])).position!
  }

  /** Rows of events count as inserted once `insert` has resolved. */
  const start = async (insert: (projects: readonly string[]) => Promise<unknown>) => {
    const inserted: { readonly project: string; readonly position: Position }[] = []
    const projector = await startProjector({
      eventStore,
      blobs,
      clickHouse: {
        ...clickHouse.writer,
        insert: async (rows) => {
          if (rows.table !== 'noted') return clickHouse.writer.insert(rows)
          const noted = rows.values as readonly (readonly [string, string])[]
          await insert(noted.map(([project]) => project))
          inserted.push(...noted.map(([project, position]) => ({ project, position: BigInt(position) })))
        },
      },
      projections: [noting],
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    })
    return { projector, inserted }
  }

  it('let a team read while the rows of one that writes much are inserted', async () => {
    let open: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    const { projector, inserted } = await start((projects) =>
      projects.includes('noisy/p') ? gate : Promise.resolve(),
    )
    const large = await append('noisy', LARGE)
    const own = await append('quiet')
    const little = await append('noisy')

    assert.equal(await projector.waitFor(own, WAIT_MS, 'quiet'), true)
    assert.deepEqual(inserted, [{ project: 'quiet/p', position: own }])
    assert.equal(projector.reached('quiet'), little)
    assert.equal(projector.reached('noisy'), large - 1n)
    assert.equal(projector.reached(), large - 1n)
    assert.equal(await projector.waitFor(little, 50, 'noisy'), false)

    open()
    assert.equal(await projector.waitFor(little, WAIT_MS), true)
    assert.deepEqual(
      inserted.map(({ position }) => position),
      [own, large, little],
    )
    await projector.stop()
  })

  const arbitrarySteps = fc.array(
    fc.record({
      team: fc.constantFrom('a', 'b', 'c', null),
      isLarge: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
      reads: fc.constantFrom('a', 'b', 'c', undefined, 'none'),
      delayMs: fc.nat(4),
    }),
    { minLength: 1, maxLength: 30 },
  )

  it('keep the order of each team, and tell of a team and of all what can be read', async () => {
    const law = fc.asyncProperty(arbitrarySteps, async (steps) => {
      eventStore = openInMemoryEventStore()
      await clickHouse.writer.command('TRUNCATE TABLE checkpoints')
      let inserts = 0
      const { projector, inserted } = await start(() => sleep(steps[inserts++ % steps.length]!.delayMs))
      const appended: { readonly project: string | undefined; readonly position: Position }[] = []
      const isIn = (position: Position, team: string | undefined) =>
        appended.every(
          (event) =>
            event.position > position ||
            (team !== undefined && event.project !== `${team}/p` && event.project !== undefined) ||
            inserted.some((one) => one.position === event.position),
        )
      const reads: Promise<void>[] = []
      for (const { team, isLarge, reads: reader, delayMs } of steps) {
        const position = await append(team, isLarge ? LARGE : LITTLE)
        appended.push({ project: team === null ? undefined : `${team}/p`, position })
        if (delayMs === 0) await sleep(1)
        assert.ok(isIn(projector.reached(reader), reader))
        if (reader === 'none') continue
        reads.push(
          projector.waitFor(position, WAIT_MS, reader).then((isRead) => {
            assert.ok(isRead)
            assert.ok(isIn(position, reader))
            assert.ok(projector.reached(reader) >= position)
          }),
        )
      }
      await Promise.all(reads)
      assert.ok(await projector.waitFor(await eventStore.head(), WAIT_MS))
      await projector.stop()

      for (const project of ['a/p', 'b/p', 'c/p', undefined])
        assert.deepEqual(
          inserted.filter((one) => one.project === project).map(({ position }) => position),
          appended.filter((one) => one.project === project).map(({ position }) => position),
        )
    })
    await fc.assert(law, { numRuns: 25 })
  })
})
