import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { microseconds, type Instant } from '../../../../src/kernel/codec/instant.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { query } from '../../../../src/domain/query/query.js'
import { callsProjection } from '../../../../src/projections/calls/project.js'
import { callIdPages, callIds } from '../../../../src/projections/calls/pages.js'
import { countCalls } from '../../../../src/projections/calls/count.js'
import { NO_FILTER } from '../../../../src/projections/calls/filter.js'
import { callExtent, newestOf } from '../../../../src/projections/calls/summary.js'
import { commonValues } from '../../../../src/projections/calls/values.js'
import type { OrderBy } from '../../../../src/projections/expression/order.js'
import { callStats } from '../../../../src/projections/usage/stats/call-stats.js'
import { feedbackProjection } from '../../../../src/projections/feedback/project.js'
import { migrate } from '../../../../src/projections/migrate.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { usageProjection } from '../../../../src/projections/usage/project.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'
import {
  arbitraryCalls,
  arbitraryFilter,
  arbitraryOperationOnCalls,
  arbitraryOrder,
  arbitraryPosition,
} from '../../../support/expression/arbitrary-calls.js'
import { isSelected, isThere, meaningOf, type Call } from '../../../support/expression/call.js'
import { eventsOfCalls } from '../../../support/expression/events-of-calls.js'
import {
  byCodePoints,
  evaluateOver,
  firstOf,
  isMissing,
  numberOf,
  textOf,
  type Single,
} from '../../../support/expression/evaluate.js'
import { isRefused } from '../../../support/expression/refused.js'

/** How many filters and operations are asked. */
const QUESTIONS = COUNTS.selectionQuestions
const A_PROJECT = 40

const EVER = { from: '1900-01-01T00:00:00.000000Z', to: '2299-01-01T00:00:00.000000Z' } as Record<
  'from' | 'to',
  Instant
>
const FEW = { contains: '', limit: 100, areFew: true }
const COUNTED = [{ metric: 'call_count', aggregations: ['sum'], percentiles: [] }] as const

describe('the calls that a filter and a query select', function () {
  this.timeout(1_800_000)
  let clickHouse: ClickHouse

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    // Rows of a call stay apart, as they are just after they came.
    for (const table of ['calls', 'feedback']) await clickHouse.writer.command(`SYSTEM STOP MERGES ${table}`)
  })
  after(() => clickHouse.close())

  const insert = async (events: readonly ProjectedEvent[]): Promise<void> => {
    for (const projection of [callsProjection, usageProjection, feedbackProjection])
      for (const rows of projection.rowsOf(events)) await clickHouse.writer.insert(rows)
  }

  const given = async (calls: readonly Call[], batches: number): Promise<void> => {
    const events = eventsOfCalls(calls)
    const size = Math.ceil(events.length / batches)
    for (let from = 0; from < events.length; from += size) await insert(events.slice(from, from + size))
    // As after a crash before the checkpoint was written.
    await insert(events.slice(events.length - size / 2))
  }

  const question = fc.record({
    filter: fc.option(arbitraryFilter, { freq: 2 }),
    operation: fc.option(
      arbitraryOperationOnCalls.filter((one) => !isRefused(one)),
      { freq: 8 },
    ),
    sortBy: arbitraryOrder,
    position: arbitraryPosition,
  })

  it('are those that a plain evaluation names, in the order that is asked for, as of any position', async () => {
    let asked = 0
    let found = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constant(null).chain(() => {
          const project = `t/${randomUUID()}`
          return arbitraryCalls(project).map((calls) => ({ project, calls }))
        }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(question, { minLength: A_PROJECT, maxLength: A_PROJECT }),
        async ({ project, calls }, batches, questions) => {
          const projectId = `t/${randomUUID()}`
          const own = calls.map((call) => ({ ...call, project_id: projectId }))
          assert.notEqual(project, projectId)
          await given(own, batches)
          for (const { filter, operation, sortBy, position } of questions) {
            assert.ok(operation === null || query.is({ $expr: operation }))
            const matching = own.filter(
              (call) =>
                isThere(call, position) &&
                isSelected(filter ?? {}, call, position) &&
                (operation === null || evaluateOver(operation, meaningOf(call, own, position)) === true),
            )
            const expected = inOrder(matching, own, sortBy, position).map(({ id }) => id)
            const selected = {
              projectId,
              filter: filter === null ? null : { ...NO_FILTER, ...filter },
              operation,
              position: BigInt(position),
            }
            const page = { sortBy, limit: null, offset: null }
            const what = JSON.stringify({ filter, operation, sortBy, position })
            const ids = await callIds(clickHouse.reader)({ ...selected, ...page })
            assert.deepEqual(
              ids.map(({ id }) => id),
              expected,
              what,
            )
            if (asked % 10 === 5) {
              const paged: string[] = []
              for await (const some of callIdPages(clickHouse.reader, { ...selected, ...page }, 2))
                paged.push(...some.map(({ id }) => id))
              assert.deepEqual(paged, expected, `page by page: ${what}`)
            }
            if (asked % 10 === 5 || mayBeOfRunning(operation))
              for (const direction of ['asc', 'desc'] as const) {
                const byStart = [{ field: 'started_at', direction }]
                const inTime = inOrder(matching, own, byStart, position).map(({ id }) => id)
                const narrow = { firstCandidates: 1, maxCandidates: 1000, maxOffset: 0 }
                for (const [offset, limit] of [
                  [0, 1],
                  [1, 2],
                  [2, 20],
                ] as const) {
                  const query = { ...selected, sortBy: byStart, offset, limit }
                  const some = await callIds(clickHouse.reader, narrow)(query)
                  assert.deepEqual(
                    some.map(({ id }) => id),
                    inTime.slice(offset, offset + limit),
                    `${limit} from ${offset} ${direction}: ${what}`,
                  )
                }
                const paged: string[] = []
                for await (const some of callIdPages(
                  clickHouse.reader,
                  { ...selected, ...page, sortBy: byStart },
                  2,
                ))
                  paged.push(...some.map(({ id }) => id))
                assert.deepEqual(paged, inTime, `page by page ${direction}: ${what}`)
              }
            if (asked % 10 === 0) {
              const { count } = await countCalls(clickHouse.reader)(selected, null)
              assert.equal(count, expected.length, what)
              const span = { ...selected, began: EVER, starts: [0] }
              const { buckets } = await callStats(clickHouse.reader)(span, COUNTED)
              const [bucket] = buckets
              assert.equal(bucket!.figures['call_count_sum'], expected.length, what)
              const starts = matching.map(({ at }) => at).sort((a, b) => b - a)
              const { first, last } = await callExtent(clickHouse.reader, selected)
              assert.deepEqual([first, last], [starts.at(-1) ?? 0, starts[0] ?? 0], `extent: ${what}`)
              for (const sizes of [
                { most: 3, searched: 1000 },
                { most: 1000, searched: 4 },
              ]) {
                const newest = await newestOf(clickHouse.reader, selected, sizes)
                const from = Number(microseconds(newest.began!.from))
                const { calls } = await commonValues(clickHouse.reader, newest, ['op_name'], FEW)
                assert.equal(calls, starts.filter((start) => start >= from).length, `newest: ${what}`)
                if (sizes.most === 3) assert.ok(calls >= Math.min(3, starts.length), `newest: ${what}`)
              }
            }
            asked += 1
            found += expected.length
          }
        },
      ),
      { numRuns: Math.ceil(QUESTIONS / A_PROJECT), endOnFailure: true },
    )
    assert.ok(asked >= QUESTIONS && found > asked / 10, `${found} calls were found by ${asked} questions`)
  })
})

/** Such operations read other rows first. */
const mayBeOfRunning = (operation: unknown): boolean => /"running"|"ended_at"/.test(JSON.stringify(operation))

/** Ties by id; what has no value comes last, numbers before other text. */
const inOrder = (
  calls: readonly Call[],
  all: readonly Call[],
  sortBy: readonly OrderBy[],
  position: number,
): readonly Call[] => {
  const keys = new Map(
    calls.map((call) => {
      const { value, kind } = meaningOf(call, all, position)
      return [call.id, sortBy.map(({ field }) => keysOf(firstOf(value(field)), kind(field)))]
    }),
  )
  const compare = (a: Call, b: Call): number => {
    for (const [at, { direction }] of sortBy.entries())
      for (const [part, one] of keys.get(a.id)![at]!.entries()) {
        const other = keys.get(b.id)?.[at]?.[part] ?? null
        if (one === other) continue
        if (one === null || other === null) return one === null ? 1 : -1
        const order = typeof one === 'number' ? one - (other as number) : byCodePoints(one, other as string)
        if (order !== 0) return direction === 'asc' ? order : -order
      }
    return byCodePoints(a.id, b.id)
  }
  return calls.toSorted(compare)
}

const keysOf = (value: Single, kind: string): readonly (string | number | null)[] => {
  if (isMissing(value)) return kind === 'leaf' ? [null, null] : [null]
  if (kind === 'leaf') return [numberOf(value!), textOf(value!)]
  if ('instant' in value!) return [value.instant]
  return ['number' in value! ? value.number : textOf(value!)]
}
