import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { catalogue } from '../../../src/domain/catalogue.js'
import type { ClickHouse, Rows } from '../../../src/kernel/ports/clickhouse.js'
import { projections } from '../../../src/projections/all.js'
import { migrate } from '../../../src/projections/migrate.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'
import { COUNTS } from '../../counts.js'
import { arbitraryOf } from '../../support/arbitrary-of-codec.js'
import { openTestClickHouse } from '../../support/engine.js'

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

/** Columns of arrays, of all tables or of one. */
const LISTS = [
  ...['names', 'row_digests', 'models', 'figures', 'scorer_refs', 'display_fields'],
  'end_user_attributes.path',
]
const SCOPES = ['project_id', 'owner', 'team']

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

  /** The table has these rows of the entity and no others. */
  const assertStored = async ({ table, columns, values }: Rows, entity: string): Promise<void> => {
    const isOf = (test: (value: unknown) => boolean) =>
      columns.map((_, at) => values.some((row) => test(row[at])))
    const isNumeric = isOf((value) => typeof value === 'number')
    const isList = columns.map((column) => LISTS.includes(column) || LISTS.includes(`${table}.${column}`))
    const stored = await clickHouse.writer.query<{ row: readonly (string | null)[] }>(
      `SELECT [${columns.map((column, at) => `${isList[at] === true ? 'toJSONString' : 'toString'}(${column})`).join(', ')}] AS row
      FROM ${table} FINAL WHERE startsWith(${columns.find((column) => SCOPES.includes(column))!}, {entity:String})`,
      { entity },
    )
    const listText = (list: unknown) =>
      JSON.stringify(list, (_, item: unknown) => (typeof item === 'number' ? String(item) : item))
    const textOf = (value: unknown, at: number): string | null => {
      if (value === null) return null
      if (isList[at] === true) return listText(value)
      if (isNumeric[at] === true) return String(Number(value))
      return typeof value === 'string' ? value : JSON.stringify(value)
    }
    const read = stored.map(({ row }) =>
      row.map((text, at) => {
        if (text === null) return null
        if (isList[at] === true) return listText(JSON.parse(text))
        return isNumeric[at] === true ? String(Number(text)) : text
      }),
    )
    const texts = (rows: readonly (readonly unknown[])[]) =>
      [...new Set(rows.map((row) => JSON.stringify(row)))].sort()
    assert.deepEqual(texts(read), texts(values.map((row) => row.map(textOf))), table)
  }

  it('every event its codec accepts becomes rows that ClickHouse takes and gives back unchanged', async () => {
    let projected = 0

    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryEvent, EVENTS_A_BATCH), async (happened) => {
        const entity = randomUUID()
        const events = placed(happened, entity)
        projected += events.length

        for (const { name, rowsOf } of projections)
          for (const rows of rowsOf(events)) {
            await clickHouse.writer.insert(rows)
            if (!['times', 'rebuilds'].includes(name)) await assertStored(rows, entity)
          }
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
