import assert from 'node:assert/strict'
import fc from 'fast-check'
import { callsFilter } from '../../src/api/tracing/filter.js'
import { usageJson } from '../../src/api/tracing/usage-json.js'
import { instantOf } from '../../src/domain/codec/instant.js'
import type { ClickHouse, Rows } from '../../src/domain/ports/clickhouse.js'
import { migrate } from '../../src/projections/migrate.js'
import { callStats, usageStats, type UsageBucket } from '../../src/projections/stats/queries.js'
import { withDescendants } from '../../src/projections/usage/queries-of-descendants.js'
import { usageFrom } from '../../src/projections/usage/queries.js'
import { openTestClickHouse } from '../support/engine.js'
import { ownUsage } from '../support/oracle/already-added.js'
import { arbitraryUsageCase, inProject } from '../support/oracle/cases.js'
import { Family } from '../support/oracle/family.js'
import { clamped } from '../support/oracle/figure.js'
import type { Answer, Operation } from '../support/oracle/operations.js'
import { record } from '../support/oracle/record.js'
import { selects } from '../support/oracle/select.js'
import type { Started } from '../support/oracle/started.js'
import { FOLDED_KEYS, type Folded } from '../support/oracle/usage.js'
import { insertRows } from './handling.js'
import { read, Recorder } from './recorder.js'

const CASES = Number(process.env['TALLYTREE_STATS_CASES'] ?? 12)

const FIGURES = { aggregations: ['sum', 'avg', 'min', 'max', 'count'], percentiles: [0, 37.5, 100] } as const
const MICROSECONDS = 1_000_000n
const FIRST = -2_208_988_800
const LAST = 10_413_791_999

describe('statistics', () => {
  let clickHouse: ClickHouse

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })

  after(() => clickHouse.close())

  it(`tell what calls used themselves, as the oracle says, in ${CASES} random cases`, async function () {
    this.timeout(0)
    let projects = 0
    const law = fc.asyncProperty(
      arbitraryUsageCase,
      fc.array(fc.nat(100), { maxLength: 3 }),
      fc.nat(100),
      async (usageCase, cuts, share) => {
        const projectId = `team/stats-${(projects += 1)}`
        const { operations, question } = inProject(projectId, usageCase)
        const known = operations.slice(0, Math.round((operations.length * share) / 100))
        const position = await recorded(projectId, operations, known.length)
        const { calls, reporting } = record(known)
        const everyone = new Family(calls)
        const selected = calls.filter((call) => !call.deleted && selects(question.filter ?? {}, call))
        const starts = boundaries(
          calls.map(({ startedAt }) => startedAt),
          cuts,
        )
        const bucketOf = (startedAt: bigint) =>
          starts.findLast((start) => BigInt(start) * MICROSECONDS <= startedAt)!

        const used = new Map<string, Folded[]>()
        for (const call of selected)
          for (const [model, folded] of ownUsage(call, everyone, reporting)) {
            const key = JSON.stringify([bucketOf(call.startedAt), model])
            used.set(key, [...(used.get(key) ?? []), folded])
          }
        const filter = question.filter == null ? null : read(callsFilter, question.filter)
        const span = {
          ...{ projectId, filter, position, starts },
          start: instantOf(new Date(FIRST * 1000)),
          end: instantOf(new Date(LAST * 1000)),
        }
        const wanted = FOLDED_KEYS.map((metric) => ({ metric, ...FIGURES }))
        const limits = { maxTraceCalls: 1000, requireFew: () => undefined }
        const told = [...(await usageStats(clickHouse.reader)(span, wanted, limits))]
        const models = new Set([...used.keys()].map((key) => (JSON.parse(key) as [number, string])[1]))
        assert.equal(told.length, models.size * starts.length)
        for (const bucket of told)
          assertTold(bucket, used.get(JSON.stringify([bucket.start, bucket.model])) ?? [])

        const counted = [
          ...(await callStats(clickHouse.reader)(span, [
            { metric: 'call_count', aggregations: ['sum'], percentiles: [] },
            { metric: 'error_count', aggregations: ['sum'], percentiles: [] },
            { metric: 'latency_ms', ...FIGURES },
          ])),
        ]
        for (const { start, figures } of counted) {
          const inBucket = selected.filter(({ startedAt }) => bucketOf(startedAt) === start)
          const latencies = inBucket.flatMap(({ startedAt, endedAt }) =>
            endedAt === undefined ? [] : [(endedAt - startedAt) / 1000n],
          )
          const failed = inBucket.filter(({ end }) => (end?.exception ?? '') !== '').length
          assert.equal(figures['call_count_sum'], inBucket.length)
          assert.equal(figures['error_count_sum'], failed)
          assertFigures('latency_ms', figures, latencies)
        }
      },
    )
    await fc.assert(law, { numRuns: CASES })
  })

  it(`add up to what \`/trace/usage\` answers for the roots, in ${CASES} random cases`, async function () {
    this.timeout(0)
    let projects = 0
    const law = fc.asyncProperty(arbitraryUsageCase, async (usageCase) => {
      const projectId = `team/sums-${(projects += 1)}`
      const { operations } = inProject(projectId, usageCase)
      const position = await recorded(projectId, operations, operations.length)
      const question = { projectId, filter: null, position }
      const usage = usageFrom(clickHouse.reader)
      const { answered } = await usage({ ...question, operation: null, limit: 10_000, maxTraceCalls: 1000 })
      const body = Buffer.concat([...usageJson(answered)]).toString()
      const { call_usage } = JSON.parse(body) as Pick<Answer, 'call_usage'>
      const visible = record(operations).calls.filter(({ deleted }) => !deleted)
      const sums = new Map<string, bigint>()
      for (const id of tops(new Family(visible), visible))
        for (const [model, { total_tokens }] of Object.entries(call_usage[id]!))
          sums.set(model, (sums.get(model) ?? 0n) + BigInt(total_tokens))

      const span = {
        ...{ ...question, starts: [FIRST] },
        start: instantOf(new Date(FIRST * 1000)),
        end: instantOf(new Date(LAST * 1000)),
      }
      const wanted = [{ metric: 'total_tokens', aggregations: ['sum'], percentiles: [] }] as const
      const limits = { maxTraceCalls: 1000, requireFew: () => undefined }
      const told = [...(await usageStats(clickHouse.reader)(span, wanted, limits))]
      // Answers that were cut to 2^53 add up to something else.
      if (/9007199254740992/.test(body) || [...sums.values()].some((sum) => clamped(sum) !== sum)) return
      assert.deepEqual(
        new Map(told.map(({ model, figures }) => [model, BigInt(figures['total_tokens_sum']!)])),
        sums,
      )
    })
    await fc.assert(law, { numRuns: CASES })
  })

  const recorded = async (projectId: string, operations: readonly Operation[], asOf: number) => {
    const { reader, writer } = clickHouse
    const tables = { reader, insert: (rows: Rows) => writer.insert(rows) }
    let projected = 0
    const project = async () => {
      await insertRows(tables, recorder.events.slice(projected))
      projected = recorder.events.length
    }
    const recorder: Recorder = new Recorder(projectId, async (ids) => {
      await project()
      return withDescendants(reader)(projectId, ids, recorder.head)
    })
    let position = 0n
    for (const [index, operation] of operations.entries()) {
      await recorder.take(operation)
      if (index + 1 === asOf) position = recorder.head
    }
    await project()
    return position
  }
})

/** The calls that stand below no other, and of those whose parents run in a circle one each. */
const tops = (living: Family, members: readonly Started[]): readonly string[] => {
  const tops: string[] = []
  for (const call of members) {
    const isTop = living.parentOf(call) === undefined
    const circle = living
      .withDescendants(call)
      .filter((other) => living.withDescendants(other).includes(call))
    const isOnCircle = circle.some((other) => living.parentOf(other) === call)
    if (isTop || (isOnCircle && circle.every(({ id }) => call.id <= id))) tops.push(call.id)
  }
  return tops
}

/** Some of the seconds at which calls began, and one before all. */
const boundaries = (startedAts: readonly bigint[], cuts: readonly number[]): readonly number[] => {
  const seconds = startedAts.map((at) =>
    Number((at - (((at % MICROSECONDS) + MICROSECONDS) % MICROSECONDS)) / MICROSECONDS),
  )
  const cut = cuts.flatMap((nth) => (seconds.length === 0 ? [] : [seconds[nth % seconds.length]!]))
  return [...new Set([FIRST, ...cut])].sort((a, b) => a - b)
}

const assertTold = ({ calls, figures }: UsageBucket, used: readonly Folded[]) => {
  assert.equal(calls, used.length)
  for (const key of FOLDED_KEYS)
    assertFigures(
      key,
      figures,
      used.map((folded) => folded[key]),
    )
}

const assertFigures = (
  metric: string,
  figures: Readonly<Record<string, number | null>>,
  exact: readonly bigint[],
) => {
  const sum = exact.reduce((total, one) => total + one, 0n)
  const sorted = exact.map((one) => Number(clamped(one))).sort((a, b) => a - b)
  const of = (name: string) => figures[`${metric}_${name}`]
  assert.equal(of('sum'), Number(clamped(sum)), metric)
  assert.equal(of('count'), exact.length)
  assertNear(of('avg'), exact.length === 0 ? 0 : Number(sum) / exact.length)
  assert.equal(of('min'), sorted[0] ?? null)
  assert.equal(of('max'), sorted.at(-1) ?? null)
  assert.equal(of('p0'), sorted[0] ?? null)
  assert.equal(of('p100'), sorted.at(-1) ?? null)
  if (sorted.length === 0) return
  const place = 0.375 * (sorted.length - 1)
  const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!]
  assertNear(of('p37.5'), below + (place - Math.floor(place)) * (above - below))
}

const assertNear = (actual: number | null | undefined, expected: number) =>
  assert.ok(
    typeof actual === 'number' && Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected)),
    `${actual} is not ${expected}`,
  )
