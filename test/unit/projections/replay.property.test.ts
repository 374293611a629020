import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { usageJson } from '../../../src/application/calls/usage-json.js'
import { NO_FILTER } from '../../../src/projections/calls/filter.js'
import { callIds } from '../../../src/projections/calls/pages.js'
import { callsById } from '../../../src/projections/calls/read.js'
import { usageFrom } from '../../../src/projections/usage/queries.js'
import type { ClickHouse } from '../../../src/kernel/ports/clickhouse.js'
import type { Position } from '../../../src/kernel/ports/event-store.js'
import { projections } from '../../../src/projections/all.js'
import { migrate } from '../../../src/projections/migrate.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'
import { COUNTS } from '../../counts.js'
import { completedEvents } from '../../support/completed-events.js'
import { openTestClickHouse } from '../../support/engine.js'
import { arbitraryHistory, type History } from './arbitrary-history.js'

const arbitraryPlaces = (maxLength: number) => fc.array(fc.nat(999), { maxLength })

/** Places within a list of so many events. */
const within = (length: number, places: readonly number[]): readonly number[] =>
  places.map((place) => place % (length + 1)).sort((a, b) => a - b)

/** A list cut at any places; a batch may be empty. */
const batchesOf = <A>(events: readonly A[], places: readonly number[]): readonly (readonly A[])[] =>
  [...within(events.length, places), events.length].map((cut, index, cuts) =>
    events.slice(cuts[index - 1] ?? 0, cut),
  )

describe('replaying the log', () => {
  let clickHouse: ClickHouse

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const insert = async (events: readonly ProjectedEvent[]): Promise<void> => {
    for (const { rowsOf } of projections)
      for (const rows of rowsOf(events)) await clickHouse.writer.insert(rows)
  }

  /** All that can be asked about a project at a position, without the project's name. */
  const answersAt = async (projectId: string, position: Position) => {
    const { reader } = clickHouse
    const byStart = { field: 'started_at', direction: 'asc' } as const
    const question = {
      projectId,
      filter: null,
      operation: null,
      position,
      sortBy: [byStart],
      limit: null,
      offset: null,
    }
    const ids = await callIds(reader)(question)
    const calls = await callsById(reader)(
      projectId,
      ids.map(({ id }) => id),
      position,
    )
    const ask = usageFrom()
    const common = { projectId, operation: null, limit: 10_000, position, maxTraceCalls: 10_000 }
    const everything = await ask(reader, { ...common, filter: null })
    const traces = [...new Set(calls.map(({ trace_id }) => trace_id))]
    const byTrace = await Promise.all(
      traces.map((trace) => ask(reader, { ...common, filter: { ...NO_FILTER, trace_ids: [trace] } })),
    )
    return {
      ids: ids.map(({ id }) => id),
      calls: calls.map(({ project_id: _, ...call }) => call),
      usage: await Promise.all(
        [everything, ...byTrace].map(async ({ calls, ...rest }) => ({
          ...rest,
          json: await text(Readable.from(usageJson({ calls, ...rest }))),
        })),
      ),
    }
  }

  it('batches may be cut anywhere, and any tail of the log may come again: answers stay the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryHistory,
        arbitraryPlaces(8),
        arbitraryPlaces(4),
        arbitraryPlaces(2),
        async (history, cuts, cutsAgain, positions) => {
          const entity = randomUUID()
          const whole = placed(history, `${entity}/whole`)
          const cut = placed(history, `${entity}/cut`)
          await insert(whole)
          for (const batch of batchesOf(cut, cuts)) await insert(batch)
          const last = BigInt(history.length)
          const asked = [last, ...within(history.length, positions).map(BigInt)]

          for (const position of asked)
            assert.deepEqual(
              await answersAt(`${entity}/cut`, position),
              await answersAt(`${entity}/whole`, position),
            )

          const [checkpoint = 0] = within(history.length, cuts)
          for (const batch of batchesOf(cut.slice(checkpoint), cutsAgain)) await insert(batch)

          for (const position of asked)
            assert.deepEqual(
              await answersAt(`${entity}/cut`, position),
              await answersAt(`${entity}/whole`, position),
            )
        },
      ),
      { numRuns: COUNTS.callReplays, endOnFailure: true },
    )
  })
})

const placed = (history: History, projectId: string): readonly ProjectedEvent[] =>
  completedEvents(
    history.map(({ type, data }, index) => ({
      type,
      data: { ...(data as object), project_id: projectId },
      position: BigInt(index + 1),
    })),
  )
