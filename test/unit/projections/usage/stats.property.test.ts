import { UNIT_NAMES } from '../../../../src/domain/prices/units.js'
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { callsFilter } from '../../../../src/application/calls/filter.js'
import { usageJson } from '../../../../src/application/calls/usage-json.js'
import { instantOf } from '../../../../src/kernel/codec/instant.js'
import { amountFrom } from '../../../../src/domain/prices/decimal.js'
import type { ClickHouse, Rows } from '../../../../src/kernel/ports/clickhouse.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { cachedBooks } from '../../../../src/projections/prices/cached-books.js'
import { callStats } from '../../../../src/projections/usage/stats/call-stats.js'
import {
  usageStats,
  type UsageBucket,
  type UsageMetric,
} from '../../../../src/projections/usage/stats/usage-stats.js'
import type { RequestedMetric, Span } from '../../../../src/projections/usage/stats/metric.js'
import { readTotals } from '../../../../src/projections/usage/query/open-traces.js'
import { usageFrom } from '../../../../src/projections/usage/queries.js'
import { isUnknownCost, usageBy } from '../../../../src/projections/usage/query/queries.js'
import { runTotalsPass } from '../../../../src/projections/usage/totals-pass.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { ownUsage } from '../../../support/oracle/already-added.js'
import { arbitraryUsageCase, inProject } from '../../../support/oracle/cases.js'
import { costsAfter, total, type Fraction, type OwnCosts } from '../../../support/oracle/costs.js'
import { Family } from '../../../support/oracle/family.js'
import { clamped } from '../../../support/oracle/figure.js'
import type { Answer, Operation } from '../../../support/oracle/operations.js'
import { record } from '../../../support/oracle/record.js'
import { selects } from '../../../support/oracle/select.js'
import type { Started } from '../../../support/oracle/started.js'
import { FOLDED_KEYS, type Folded } from '../../../support/oracle/usage.js'
import { AMOUNTS, assertFigures, FIGURES } from './expected-figures.js'
import { costsIn, insertRows, recording } from './handling.js'
import { arbitraryOperationOnCalls, meets } from './operations-on-calls.js'
import { arbitraryLives, pricesOf, standing, type Life } from './prices.js'
import { read } from './recorder.js'
import { isRefused } from '../../../support/expression/refused.js'

const CASES = COUNTS.stats

const MICROSECONDS = 1_000_000n
const FIRST = -2_208_988_800
const LAST = 10_413_791_999
const EVER = { from: instantOf(new Date(FIRST * 1000)), to: instantOf(new Date(LAST * 1000)) }

const COSTS = ['input_cost', 'output_cost', 'total_cost'] as const

const arbitraryPricing = fc.record({
  lives: arbitraryLives,
  list: fc.constantFrom(null, null, 'default', 'other'),
})

/** What a call used itself of a model. */
interface Used extends OwnCosts {
  readonly folded: Folded
}

interface Sums {
  readonly tokens: bigint
  readonly input: bigint
  readonly output: bigint
  readonly rest: bigint
}

const NOTHING = { tokens: 0n, input: 0n, output: 0n, rest: 0n }

describe('statistics', () => {
  let clickHouse: ClickHouse

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })

  after(() => clickHouse.close())

  it(`tell what calls used themselves and what it cost, as the oracle and /usage/query say, in ${CASES} random cases`, async function () {
    this.timeout(0)
    let projects = 0
    const law = fc.asyncProperty(
      arbitraryUsageCase,
      fc.option(arbitraryOperationOnCalls.filter((one) => !isRefused(one))),
      arbitraryPricing,
      fc.array(fc.nat(100), { maxLength: 3 }),
      fc.nat(100),
      fc.boolean(),
      async (usageCase, operation, { lives, list }, cuts, share, hasTotals) => {
        const projectId = `team/stats-${(projects += 1)}`
        const { operations, question } = inProject(projectId, usageCase)
        const known = operations.slice(0, Math.round((operations.length * share) / 100))
        const position = await recorded(projectId, operations, lives, known.length, hasTotals)
        const { calls, reporting } = record(known)
        const everyone = new Family(calls)
        const { own } = costsAfter(known, standing(lives, list, position))
        const selected = calls
          .filter((call) => !call.deleted && selects(question.filter ?? {}, call))
          .filter((call) => operation === null || meets(operation, call))
        const starts = boundaries(
          calls.map(({ startedAt }) => startedAt),
          cuts,
        )
        const bucketOf = (startedAt: bigint) =>
          starts.findLast((start) => BigInt(start) * MICROSECONDS <= startedAt)!

        const used = new Map<string, Used[]>()
        for (const call of selected) {
          const costs = new Map(own(call.id).map((one) => [one.model, one]))
          for (const [model, folded] of ownUsage(call, everyone, reporting)) {
            const key = JSON.stringify([bucketOf(call.startedAt), model])
            used.set(key, [...(used.get(key) ?? []), { folded, ...costs.get(model)! }])
          }
        }
        const filter = question.filter == null ? null : read(callsFilter, question.filter)
        const span = { projectId, filter, operation, position, starts, began: EVER }
        const wanted = [...FOLDED_KEYS, ...COSTS].map((metric) => ({ metric, ...FIGURES }))
        const { buckets, unpriced } = await statsOf(span, wanted, list)
        const told = [...buckets]
        const models = new Set([...used.keys()].map((key) => (JSON.parse(key) as [number, string])[1]))
        assert.equal(told.length, models.size * starts.length)
        for (const bucket of told)
          assertTold(bucket, used.get(JSON.stringify([bucket.start, bucket.model])) ?? [])
        assert.deepEqual(sumsOf(told), await sumsOfGroups(span, list))
        const without = [...used.values()].flat().filter(({ isUnpriced }) => isUnpriced)
        assert.deepEqual(unpriced, [...new Set(without.map(({ model }) => model))].sort())

        const { buckets: counted, endedBeforeStart } = await callStats(clickHouse.reader)(span, [
          { metric: 'call_count', aggregations: ['sum'], percentiles: [] },
          { metric: 'error_count', aggregations: ['sum'], percentiles: [] },
          { metric: 'latency_ms', ...FIGURES },
        ])
        for (const { start, figures } of counted) {
          const inBucket = selected.filter(({ startedAt }) => bucketOf(startedAt) === start)
          const latencies = inBucket.flatMap(({ startedAt, endedAt }) =>
            endedAt === undefined || endedAt < startedAt ? [] : [(endedAt - startedAt) / 1000n],
          )
          const failed = inBucket.filter(({ end }) => (end?.exception ?? '') !== '').length
          assert.equal(figures['call_count_sum'], inBucket.length)
          assert.equal(figures['error_count_sum'], failed)
          assertFigures('latency_ms', figures, latencies)
        }
        const backwards = selected.filter(
          ({ startedAt, endedAt }) => endedAt !== undefined && endedAt < startedAt,
        )
        assert.equal(endedBeforeStart, backwards.length)
      },
    )
    await fc.assert(law, { numRuns: CASES, endOnFailure: true })
  })

  it(`add up to what \`/trace/usage\` answers for the roots, costs to the last digit, in ${CASES} random cases`, async function () {
    this.timeout(0)
    let projects = 0
    const cases = [arbitraryUsageCase, arbitraryPricing, fc.boolean()] as const
    const law = fc.asyncProperty(...cases, async (usageCase, { lives, list }, hasTotals) => {
      const projectId = `team/sums-${(projects += 1)}`
      const { operations } = inProject(projectId, usageCase)
      const position = await recorded(projectId, operations, lives, operations.length, hasTotals)
      const question = { projectId, filter: null, operation: null, position, costs: { list } }
      const usage = usageFrom(undefined, hasTotals ? 0 : undefined)
      const answered = await usage(clickHouse.reader, { ...question, limit: 10_000, maxTraceCalls: 1000 })
      const body = await text(Readable.from(usageJson(answered, { withCosts: true })))
      const { call_usage } = JSON.parse(body) as Pick<Answer, 'call_usage'>
      const costs = costsIn(body)
      const visible = record(operations).calls.filter(({ deleted }) => !deleted)
      const sums = new Map<string, Sums>()
      for (const id of tops(new Family(visible), visible))
        for (const [model, { total_tokens }] of Object.entries(call_usage[id]!)) {
          const { tokens, input, output, rest } = sums.get(model) ?? NOTHING
          const cost = (kind: string) => amountFrom(costs(id, model, `${kind}_total_cost`) ?? '0')
          sums.set(model, {
            tokens: tokens + BigInt(total_tokens),
            input:
              input +
              cost('prompt_tokens') +
              cost('cache_read_input_tokens') +
              cost('cache_creation_input_tokens'),
            output: output + cost('completion_tokens'),
            rest: UNIT_NAMES.map(cost).reduce((a, b) => a + b, rest),
          })
        }

      const wanted = (['total_tokens', ...COSTS] as const).map((metric) => ({
        metric,
        aggregations: ['sum' as const],
        percentiles: [],
      }))
      const span = { projectId, filter: null, operation: null, position, starts: [FIRST], began: EVER }
      const { buckets, unpriced } = await statsOf(span, wanted, list)
      const told = new Map(Array.from(buckets, ({ model, figures }) => [model, figures]))
      assert.deepEqual([...told.keys()].sort(), [...sums.keys()].sort())
      // Figures of tokens that were cut to 2^53 add up to something else; costs are never cut.
      const isCut =
        /9007199254740992/.test(body) || [...sums.values()].some(({ tokens }) => clamped(tokens) !== tokens)
      for (const [model, { tokens, input, output, rest }] of sums) {
        const sum = (metric: string) => BigInt(told.get(model)![`${metric}_sum`]!)
        if (unpriced.includes(model)) assert.equal(told.get(model)!['total_cost_sum'], null)
        else assert.deepEqual(COSTS.map(sum), [input, output, input + output + rest])
        if (!isCut) assert.equal(sum('total_tokens'), tokens)
      }
      assert.deepEqual(unpriced, answered.unpricedModels)
    })
    await fc.assert(law, { numRuns: CASES, endOnFailure: true })
  })

  const statsOf = (span: Span, wanted: readonly RequestedMetric<UsageMetric>[], list: string | null) =>
    cachedBooks()(clickHouse.reader, { ...span, list }).then((prices) =>
      readTotals(clickHouse.reader, { ...span, kind: 'own', prices }, (open) =>
        usageStats(clickHouse.reader)(span, { wanted, open, requireFew: () => undefined }),
      ),
    )

  /** What `/usage/query` answers for the same buckets and models. */
  const sumsOfGroups = async (span: Span, list: string | null): Promise<BucketSums> => {
    const prices = await cachedBooks()(clickHouse.reader, { ...span, list })
    const asked = { ...span, kind: 'own', prices } as const
    const groupBy = [{ name: 'hour', starts: span.starts }, { name: 'model' }] as const
    const groups = await readTotals(clickHouse.reader, asked, (open) =>
      usageBy(clickHouse.reader, { ...asked, open, groupBy, orderBy: [], limit: 10_000, isCompared: false }),
    )
    return new Map(
      groups.map(({ key, figures }) => [
        JSON.stringify(key),
        [
          ...FOLDED_KEYS.map((name) => Number(clamped(figures[name]))),
          ...(isUnknownCost('total_cost', figures)
            ? [null, null, null]
            : [
                figures.prompt_cost + figures.cache_read_cost + figures.cache_creation_cost,
                figures.completion_cost,
                figures.total_cost,
              ]),
        ],
      ]),
    )
  }

  /** The position of so many of the operations; price lists are those of this case alone. */
  const recorded = async (
    projectId: string,
    operations: readonly Operation[],
    lives: readonly Life[],
    asOf: number,
    hasTotals = false,
  ) => {
    const { reader, writer } = clickHouse
    for (const table of ['checkpoints', 'usage_facts']) await writer.command(`TRUNCATE TABLE ${table}`)
    const tables = { reader, insert: (rows: Rows) => writer.insert(rows) }
    await writer.command('TRUNCATE TABLE prices')
    await insertRows(tables, pricesOf(projectId, lives))
    const { recorder, project } = recording(tables, projectId)
    let position = 0n
    for (const [index, operation] of operations.entries()) {
      await recorder.take(operation)
      if (index + 1 === asOf) position = recorder.head
    }
    await project()
    if (hasTotals) await runTotalsPass(clickHouse, position)
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

/** The sums of tokens and costs by bucket and model. */
type BucketSums = ReadonlyMap<string, readonly unknown[]>

const sumsOf = (buckets: readonly UsageBucket[]): BucketSums =>
  new Map(
    buckets
      .filter(({ calls }) => calls > 0)
      .map(({ start, model, figures }) => [
        JSON.stringify([start, model]),
        [...FOLDED_KEYS, ...COSTS].map((metric) => figures[`${metric}_sum`]),
      ]),
  )

const assertTold = ({ calls, figures }: UsageBucket, used: readonly Used[]) => {
  assert.equal(calls, used.length)
  for (const key of FOLDED_KEYS)
    assertFigures(
      key,
      figures,
      used.map(({ folded }) => folded[key]),
    )
  if (used.some(({ isUnpriced }) => isUnpriced)) {
    for (const metric of COSTS) assert.equal(figures[`${metric}_sum`], null)
    return
  }
  const [input, output] = [
    used.map(({ costs: [prompt, , read, creation] }) => amount(prompt!, read!, creation!)),
    used.map(({ costs: [, completion] }) => amount(completion!)),
  ]
  assertFigures('input_cost', figures, input, AMOUNTS)
  assertFigures('output_cost', figures, output, AMOUNTS)
  assertFigures(
    'total_cost',
    figures,
    input.map((cost, at) => cost + output[at]!),
    AMOUNTS,
  )
}

/** In 10^-12, of which every cost is a whole number. */
const amount = (...costs: readonly Fraction[]): bigint => {
  const [numerator, denominator] = total(costs)
  assert.equal((numerator * 10n ** 12n) % denominator, 0n)
  return (numerator * 10n ** 12n) / denominator
}
