import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { catalogue } from '../../../src/domain/catalogue.js'
import type { ClickHouse } from '../../../src/domain/ports/clickhouse.js'
import { projections } from '../../../src/projections/all.js'
import { migrate } from '../../../src/projections/migrate.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'
import { COUNTS } from '../../counts.js'
import { arbitraryOf } from '../../support/arbitrary-of-codec.js'
import { openTestClickHouse } from '../../support/engine.js'
import { expectedObjectRows, readObjectRows } from './expected-object-rows.js'
import { expectedTables, readTables } from './expected-tables.js'
import { expectedDeliveries, readDeliveries } from './expected-deliveries.js'
import { expectedFeedback, readFeedback } from './expected-feedback.js'
import { expectedPrices, readPrices } from './expected-prices.js'
import { expectedCalls, expectedFacts, readCalls, readFacts } from './expected-rows.js'

type Happened = Pick<ProjectedEvent, 'type' | 'data'>

/** Starts, ends and tables carry nearly all that is projected. */
const WEIGHT: Readonly<Record<string, number>> = {
  CallStarted: 20,
  CallEnded: 20,
  CallRenamed: 4,
  ObjectPublished: 8,
  TableRowsStored: 6,
  TablePublished: 4,
  FeedbackGiven: 10,
  PricePublished: 6,
  AttemptFinished: 3,
}

const arbitraryEvent: fc.Arbitrary<Happened> = fc.oneof(
  ...catalogue
    .flatMap(({ events }) => Object.entries(events))
    .map(([type, codec]) => ({
      weight: WEIGHT[type] ?? 1,
      arbitrary: arbitraryOf<unknown>(codec).map((data) => ({ type, data })),
    })),
)

const BATCHES = COUNTS.lawBatches
const EVENTS_A_BATCH = { minLength: 55, maxLength: 65 }

/** One event a call, so that each row is told by one event alone. */
const placed = (events: readonly Happened[], entity: string): readonly ProjectedEvent[] =>
  events.map(({ type, data }, index) => ({
    type,
    data: {
      ...(data as object),
      ...('delivery_id' in (data as object) ? { team: entity } : { project_id: `${entity}/${index}` }),
    },
    position: BigInt(index + 1),
  }))

describe('the law of projections', () => {
  let clickHouse: ClickHouse

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  it('every event its codec accepts becomes rows that ClickHouse takes and gives back unchanged', async () => {
    let projected = 0

    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryEvent, EVENTS_A_BATCH), async (happened) => {
        const entity = randomUUID()
        const events = placed(happened, entity)
        projected += events.length

        for (const { rowsOf } of projections)
          for (const rows of rowsOf(events)) await clickHouse.writer.insert(rows)

        assert.deepEqual(await readCalls(clickHouse, entity), expectedCalls(events))
        assert.deepEqual(await readFacts(clickHouse, entity), expectedFacts(events))
        assert.deepEqual(await readObjectRows(clickHouse, entity), expectedObjectRows(events))
        assert.deepEqual(await readTables(clickHouse, entity), expectedTables(events))
        assert.deepEqual(await readFeedback(clickHouse, entity), expectedFeedback(events))
        assert.deepEqual(await readDeliveries(clickHouse, entity), expectedDeliveries(events))
        assert.deepEqual(await readPrices(clickHouse, entity), expectedPrices(events))
      }),
      { numRuns: BATCHES, endOnFailure: true },
    )

    assert.ok(projected >= 50 * BATCHES, `only ${projected} events were projected`)
  })

  it('the same events give the same rows, and are left as they were', () => {
    fc.assert(
      fc.property(fc.array(arbitraryEvent, { maxLength: 20 }), (happened) => {
        const events = placed(happened, 'same')
        const before = structuredClone(events)
        for (const { rowsOf } of projections) assert.deepEqual(rowsOf(events), rowsOf(events))
        assert.deepEqual(events, before)
      }),
      { numRuns: 50 },
    )
  })
})
