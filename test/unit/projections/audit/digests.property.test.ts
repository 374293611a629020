import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { projections } from '../../../../src/projections/all.js'
import { digestsOf } from '../../../../src/projections/audit/queries.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { runTotalsPass } from '../../../../src/projections/usage/totals-pass.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { COUNTS } from '../../../counts.js'
import { completedEvents } from '../../../support/completed-events.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { arbitraryLog, type Happened } from './arbitrary-log.js'

const ROUNDS = COUNTS.digestLogs
const LARGE_TABLE_ROWS = COUNTS.digestTableRows
/** Of 1,000 bytes a row. */
const LARGE_TABLE_MEMORY = 1_333 * LARGE_TABLE_ROWS

const TABLES = [
  'calls',
  'call_index',
  'usage_facts',
  'usage_reporting',
  'end_user_attributes',
  'object_versions',
  'object_tags',
  'object_aliases',
  'table_rows',
  'table_entries',
  'tables',
  'feedback',
  'annotation_queues',
  'annotation_queue_items',
  'annotation_progress',
  'files',
  'prices',
  'deliveries',
  'run_changes',
  'artifact_versions',
  'artifact_uses',
  'artifact_makers',
  'projects',
  'calls_without_figures',
  'delivery_changes',
  'usage_totals',
]

/** Positions of one store and those of another, where the same log has others. */
const numbered = (log: readonly Happened[], gap: bigint): readonly ProjectedEvent[] =>
  completedEvents(log.map((event, index) => ({ ...event, position: (BigInt(index) + 1n) * gap + gap / 2n })))

const positionOf = (index: number, gap: bigint): bigint => BigInt(index) * gap + gap / 2n

/** Whether a read model shows the event. Conflicts, and events of calls that have not started, make no rows. */
const makesRows = (event: ProjectedEvent): boolean =>
  projections.some(({ name, rowsOf }) => name !== 'times' && rowsOf([event]).length > 0)

/** The same kind of event that says something else. */
const otherwise = ({ type, data }: Happened): Happened => {
  const fields = data as Readonly<Record<string, unknown>>
  const text = (field: string) => ({ [field]: `${String(fields[field])} else` })
  const labels = (field: string) => ({ [field]: [...(fields[field] as readonly string[]), 'else'] })
  const changes: Readonly<Record<string, () => object>> = {
    CallStarted: () => text('op_name'),
    CallEnded: () => ({ output: [fields['output']] }),
    CallRenamed: () => text('display_name'),
    CallDeleted: () => text('id'),
    UsageReportingChosen: () => ({ usage_reporting: fields['usage_reporting'] === 'own' ? 'auto' : 'own' }),
    EndUserAttributeChosen: () => text('end_user_attribute'),
    ObjectPublished: () => ({ val: [fields['val']] }),
    ObjectDeleted: () => text('digest'),
    ObjectTagsAdded: () => labels('tags'),
    ObjectTagsRemoved: () => labels('tags'),
    ObjectAliasesSet: () => labels('aliases'),
    ObjectAliasesRemoved: () => labels('aliases'),
    FeedbackGiven: () => ({ payload: { else: fields['payload'] } }),
    FeedbackPurged: () => text('id'),
    AnnotationQueueCreated: () => text('name'),
    AnnotationQueueDeleted: () => text('id'),
    AnnotationItemAdded: () => labels('display_fields'),
    AnnotationItemProgressed: () => text('annotator'),
    FileStored: () => ({ size: fields['size'] === 0 ? 1 : 0 }),
    PricePublished: () => text('llm_id'),
    PriceWithdrawn: () => text('id'),
    DeliveryScheduled: () => text('webhook_id'),
    AttemptStarted: () => ({ attempt: fields['attempt'] === 1 ? 2 : 1 }),
    AttemptFinished: () => text('error'),
    AttemptOutcomeUnknown: () => ({ attempt: fields['attempt'] === 1 ? 2 : 1 }),
    DeliveryCanceled: () => text('delivery_id'),
    DeliveryResent: () => text('delivery_id'),
    TablePublished: () => ({ row_count: fields['row_count'] === 0 ? 1 : 0 }),
    TableRowsStored: () => ({
      rows: [{ digest: 'e'.repeat(43), val: {} }, ...(fields['rows'] as readonly unknown[])],
    }),
  }
  return { type, data: { ...fields, ...changes[type]!() } }
}

describe('digests of read models', () => {
  let first: ClickHouse
  let second: ClickHouse
  before(async () => {
    first = await openTestClickHouse()
    second = await openTestClickHouse()
    for (const { writer } of [first, second]) await migrate(writer)
  })
  after(async () => {
    await first.close()
    await second.close()
  })

  const empty = async ({ writer }: ClickHouse) => {
    for (const table of [...TABLES, 'checkpoints']) await writer.command(`TRUNCATE TABLE ${table}`)
  }

  const insert = async ({ writer }: ClickHouse, events: readonly ProjectedEvent[]) => {
    for (const { rowsOf } of projections) for (const rows of rowsOf(events)) await writer.insert(rows)
  }

  const filled = async (store: ClickHouse, events: readonly ProjectedEvent[]) => {
    await empty(store)
    await insert(store, events)
  }

  const digestsAt = (store: ClickHouse, position: bigint, stretchRows?: number) =>
    digestsOf(store.reader, position, stretchRows)

  it('name every read model', async () => {
    assert.deepEqual(
      (await digestsAt(first, 1n)).map(({ model }) => model),
      TABLES,
    )
  })

  it('do not depend on batches, repeats, merges, cuts or the numbers of positions, and speak as of any', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryLog,
        fc.array(fc.nat(999), { maxLength: 5 }),
        fc.nat(999),
        fc.boolean(),
        fc.nat(6),
        async (log, places, until, merges, passes) => {
          const cuts = places.map((place) => place % (log.length + 1)).sort((a, b) => a - b)
          const other = numbered(log, 7n)
          await empty(second)
          for (const [index, cut] of [...cuts, log.length].entries()) {
            await insert(second, other.slice(cuts[index - 1] ?? 0, cut))
            if (index < passes) await runTotalsPass(second, positionOf(cut, 7n))
          }
          await insert(second, other.slice(cuts[0] ?? 0))
          if (merges) for (const table of TABLES) await second.writer.command(`OPTIMIZE TABLE ${table} FINAL`)

          for (const index of [log.length, until % (log.length + 1)]) {
            await filled(first, numbered(log.slice(0, index), 1n))
            const expected = await digestsAt(first, positionOf(index, 1n))
            assert.deepEqual(await digestsAt(second, positionOf(index, 7n)), expected)
            assert.deepEqual(await digestsAt(second, positionOf(index, 7n), 4), expected)
          }
        },
      ),
      { numRuns: ROUNDS, endOnFailure: true },
    )
  })

  it('change with any event that is dropped or says something else', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLog, fc.nat(999), async (log, place) => {
        const seen = numbered(log, 1n).flatMap((event, index) => (makesRows(event) ? [index] : []))
        const index = seen[place % seen.length]!
        const last = positionOf(log.length, 1n)
        await filled(first, numbered(log, 1n))
        const told = await digestsAt(first, last)

        const changed = log.with(index, otherwise(log[index]!))
        await filled(second, numbered(changed, 1n))
        assert.notDeepEqual(await digestsAt(second, last), told)

        if (log[index]!.type === 'TableRowsStored') return
        await filled(second, numbered(log.toSpliced(index, 1), 1n))
        assert.notDeepEqual(await digestsAt(second, last), told)
      }),
      { numRuns: ROUNDS * 2, endOnFailure: true },
    )
  })

  it('change when rows of usage_totals are lost', async () => {
    const usage = { model: { requests: 1, prompt_tokens: 3 } }
    const given = fc.sample(arbitraryLog, 10).flat()
    const log = given.map(({ type, data }) => ({
      type,
      data: type === 'CallEnded' ? { ...(data as object), summary: { usage } } : data,
    }))
    const events = numbered(log, 1n)
    const last = positionOf(log.length, 1n)
    await filled(first, events)
    const expected = await digestsAt(first, last)
    await runTotalsPass(first, last)
    assert.deepEqual(await digestsAt(first, last), expected)

    await first.writer.command('TRUNCATE TABLE usage_totals')

    const differing = (await digestsAt(first, last)).filter(
      ({ digest }, index) => digest !== expected[index]?.digest,
    )
    assert.deepEqual(
      differing.map(({ model }) => model),
      ['usage_totals'],
    )
  })

  it('hold little memory, however large the table', async () => {
    await empty(first)
    await first.writer.command(
      `INSERT INTO calls (project_id, id, op_name, started_at, inputs, attributes, started_position)
      SELECT 'large/project', toString(number), 'op', now64(6), repeat('x', 1000), '{}', number + 1
      FROM numbers(${LARGE_TABLE_ROWS})`,
    )
    const bounded = {
      ...first.reader,
      query: <Row>(sql: string, parameters?: Parameters<typeof first.reader.query>[1]) =>
        first.reader.query<Row>(
          sql.includes('SETTINGS') ? `${sql}, max_memory_usage = ${LARGE_TABLE_MEMORY}` : sql,
          parameters,
        ),
    }
    const [calls] = await digestsOf(bounded, BigInt(LARGE_TABLE_ROWS))
    assert.equal(calls?.rows, LARGE_TABLE_ROWS)
  })
})
