import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { microseconds, type Instant } from '../../../../../src/kernel/codec/instant.js'
import type { ClickHouse } from '../../../../../src/kernel/ports/clickhouse.js'
import { dateTime64 } from '../../../../../src/projections/clickhouse-values.js'
import { migrate } from '../../../../../src/projections/migrate.js'
import { bookOf } from '../../../../../src/projections/prices/book.js'
import type { StoredPrice } from '../../../../../src/projections/prices/queries.js'
import {
  CHARGED,
  COUNTERS,
  MEASURES,
  RARE_COUNTERS,
  SHOWN_COUNTERS,
  USED,
} from '../../../../../src/projections/usage/columns.js'
import { usageBy, type UsageGroup } from '../../../../../src/projections/usage/query/queries.js'
import type { Dimension } from '../../../../../src/projections/usage/query/groups-sql.js'
import {
  NO_OPEN_TRACES,
  OpenRows,
  type UsageRow,
} from '../../../../../src/projections/usage/query/usage-rows.js'
import { COUNTS } from '../../../../counts.js'
import { openTestClickHouse } from '../../../../support/engine.js'

const PROJECT = 'team/project'
const DAY = 86_400
const START = Date.UTC(2026, 0, 1) / 1000

const instantAt = (seconds: number): Instant =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19)}.000000Z` as Instant

const word = (...words: string[]) => fc.constantFrom(...words)
const count = fc.oneof(fc.nat(1000), fc.constantFrom(0, 2 ** 53))
const figures = fc.tuple(...COUNTERS.map(() => count))

const arbitraryRow = fc.record({
  second: fc.integer({ min: -5 * DAY, max: 10 * DAY }),
  call: fc.nat(30),
  model: word('gpt', 'claude', 'unpriced'),
  op: word('a', 'b'),
  user: word('ann', 'ben', ''),
  status: word('success', 'error'),
  own: figures,
  inclusive: figures,
})

const arbitraryQuery = fc.record({
  kind: word('own', 'inclusive') as fc.Arbitrary<'own' | 'inclusive'>,
  groupBy: fc.uniqueArray(word('model', 'op', 'user', 'status', 'day'), { maxLength: 3 }),
  measure: word('total_cost', 'calls', ...SHOWN_COUNTERS, ...RARE_COUNTERS),
  limit: fc.integer({ min: 1, max: 6 }),
  isCompared: fc.boolean(),
})

const price = (llm_id: string, effective_date: Instant, cost: string): StoredPrice => ({
  owner: PROJECT,
  id: `${llm_id} ${effective_date}`,
  llm_id,
  prompt_token_cost: cost,
  completion_token_cost: '0.5',
  cache_read_input_token_cost: '0.000000000001',
  cache_creation_input_token_cost: '3',
  cache_creation_1h_input_token_cost: '9',
  ...(llm_id === 'gpt'
    ? { prompt_audio_token_cost: '11', web_search_cost: '13', request_cost: '17', image_cost: '19' }
    : {}),
  prompt_token_cost_unit: 'USD',
  completion_token_cost_unit: 'USD',
  provider_id: '',
  created_by: '',
  effective_date,
  created_at: effective_date,
})

const STEP = START + 3 * DAY
const PRICES = bookOf(
  [
    price('gpt', instantAt(START - 100 * DAY), '0.1'),
    price('gpt', instantAt(STEP), '0.2'),
    price('claude', instantAt(START), '7'),
  ],
  PROJECT,
  undefined,
)
const promptCost = (model: string, second: number): bigint =>
  model === 'claude' ? 7n * 10n ** 12n : (START + second < STEP ? 1n : 2n) * 10n ** 11n

type Row = typeof arbitraryRow extends fc.Arbitrary<infer R> ? R : never
type Calls = readonly (Row & { readonly isFirst: boolean })[]

const instantOf = ({ second }: Row): Instant => instantAt(START + second)
const traceOf = ({ call }: Row): string => `trace-${call % 3}`

const isUsed = (row: Row, kind: 'own' | 'inclusive'): boolean => row[kind].some(Boolean)
const usageOfRow = (row: Calls[number], kind: 'own' | 'inclusive'): string =>
  isUsed(row, kind) ? (row.isFirst ? 'first' : 'further') : 'none'

const openRowOf = (row: Calls[number], kind: 'own' | 'inclusive'): UsageRow => {
  const started_at = microseconds(instantOf(row))
  return {
    started_at,
    priced_at: started_at,
    call_id: `call-${row.call}`,
    model: row.model,
    trace_id: traceOf(row),
    is_root: false,
    is_first: row.isFirst,
    is_first_of_model: true,
    op: row.op,
    root_op: 'root',
    wb_user_id: row.user,
    thread_id: '',
    wb_run_id: '',
    status: row.status,
    figures: row[kind],
  }
}

const storedRow = (row: Calls[number], kind: 'own' | 'inclusive') => ({
  project_id: PROJECT,
  started_at: dateTime64(instantOf(row)),
  call_id: `call-${row.call}`,
  model: row.model,
  trace_id: traceOf(row),
  own_usage: kind === 'own' ? usageOfRow(row, kind) : 'none',
  usage: kind === 'own' ? 'none' : usageOfRow(row, kind),
  op: row.op,
  root_op: 'root',
  wb_user_id: row.user,
  status: row.status,
  ...Object.fromEntries(COUNTERS.map((name, k) => [`own_${name}`, String(row.own[k])])),
  ...Object.fromEntries(COUNTERS.map((name, k) => [name, String(row.inclusive[k])])),
  first_started_at: dateTime64(instantOf(row)),
  last_started_at: dateTime64(instantOf(row)),
  position: 1,
})

/** The open rows of calls with usage of the kind, as `readTotals` makes them. */
const openRowsOf = (calls: Calls, kind: 'own' | 'inclusive'): readonly string[] => {
  const rows = new OpenRows()
  for (const row of calls) if (isUsed(row, kind)) rows.add(openRowOf(row, kind))
  return rows.lists()
}

describe('usage by group', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const insert = async (calls: Calls, kind: 'own' | 'inclusive') => {
    const rows = calls.map((row) => storedRow(row, kind))
    if (rows.length === 0) return
    const values = rows.map((row) => Object.values(row))
    await clickHouse.writer.insert({ table: 'usage_totals', columns: Object.keys(rows[0]!), values })
  }

  it('equals the sums of the rows, whether they are stored or of open traces', async function () {
    this.timeout(60_000)
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(arbitraryRow, { selector: ({ call, model }) => `${call} ${model}`, maxLength: 20 }),
        arbitraryQuery,
        fc.boolean(),
        async (drawn, query, isOpen) => {
          await clickHouse.writer.command('TRUNCATE TABLE usage_totals')
          const calls = withFirst(drawn, query.kind)
          await insert(calls, query.kind)
          const isOfOpen = (row: Row) => isOpen && traceOf(row) === 'trace-1'
          const open = isOpen
            ? { traceIds: ['trace-1'], rows: openRowsOf(calls.filter(isOfOpen), query.kind), prices: PRICES }
            : { ...NO_OPEN_TRACES, prices: PRICES }
          const groupBy = query.groupBy.map((name): Dimension =>
            name === 'day'
              ? { name, starts: Array.from({ length: 10 }, (_, day) => START + day * DAY) }
              : { name: name as 'model' },
          )
          const groups = await usageBy(clickHouse.reader, {
            projectId: PROJECT,
            filter: null,
            operation: null,
            position: 10n,
            kind: query.kind,
            open,
            began: { from: instantAt(START), to: instantAt(START + 5 * DAY) },
            groupBy,
            orderBy: [{ field: query.measure, direction: 'desc' }],
            limit: query.limit,
            isCompared: query.isCompared,
          })
          assert.deepEqual(groups.map(simple), expected(calls, query))
        },
      ),
      { numRuns: COUNTS.usageSums },
    )
  })
})

const simple = ({ key, groups, figures, previous }: UsageGroup) => ({ key, groups, figures, previous })

type Query = typeof arbitraryQuery extends fc.Arbitrary<infer Q> ? Q : never

/** The first row of each call is one with usage of the kind, where there is one. */
const withFirst = (drawn: readonly Row[], kind: 'own' | 'inclusive'): Calls => {
  const seen = new Set<number>()
  return drawn
    .map((row) => ({ ...row, second: row.second }))
    .toSorted((a, b) => Number(isUsed(b, kind)) - Number(isUsed(a, kind)))
    .map((row) => {
      const isFirst = !seen.has(row.call)
      seen.add(row.call)
      return { ...row, isFirst }
    })
}

const expected = (calls: Calls, { kind, groupBy, measure, limit, isCompared }: Query) => {
  const groups = new Map<string, { key: (string | number)[]; current: Sums; previous: Sums }>()
  for (const row of calls) {
    const used = row[kind]
    const isCurrent = row.second >= 0 && row.second < 5 * DAY
    const isPrevious = isCompared && row.second < 0
    if (!isUsed(row, kind) || (!isCurrent && !isPrevious)) continue
    const second = isCurrent ? row.second : row.second + 5 * DAY
    const key = groupBy.map((name) =>
      name === 'day'
        ? START + Math.floor(second / DAY) * DAY
        : name === 'user'
          ? row.user
          : row[name as 'op'],
    )
    const id = JSON.stringify(key)
    const group = groups.get(id) ?? { key, current: zero(), previous: zero() }
    groups.set(id, group)
    const sums = isCurrent ? group.current : group.previous
    const figures = used.map(BigInt)
    if (groupBy.includes('model') || row.isFirst) sums['calls']! += 1n
    SHOWN_COUNTERS.forEach((name, k) => (sums[name]! += figures[k]!))
    for (const name of RARE_COUNTERS) sums[name]! += figures[COUNTERS.indexOf(name)]!
    const tokens = CHARGED.map(({ counter }) => figures[COUNTERS.indexOf(counter)]!)
    const isAnyUsed = USED.some((counter) => figures[COUNTERS.indexOf(counter)] !== 0n)
    const add = (name: string, cost: bigint) => {
      sums[name]! += cost
      sums['total_cost']! += cost
    }
    if (row.model === 'unpriced') {
      add('provider_cost', figures[COUNTERS.indexOf('reported_cost')]! * 1000n)
      if (isAnyUsed) sums['unpriced'] = 1n
      continue
    }
    if (isAnyUsed) sums['priced'] = 1n
    const prompt = promptCost(row.model, row.second)
    const [completion, creation, hour] = [5n * 10n ** 11n, 3n * 10n ** 12n, 9n * 10n ** 12n]
    const [heard, search, request, image] = (
      row.model === 'gpt' ? [11n, 13n, 17n, 19n] : [prompt / 10n ** 12n, 0n, 0n, 0n]
    ).map((rate) => rate * 10n ** 12n) as [bigint, bigint, bigint, bigint]
    const rates = [prompt, completion, 1n, creation, hour, heard, completion, search, request, 0n, 0n, image]
    CHARGED.forEach(({ cost }, k) => add(cost, tokens[k]! * rates[k]!))
  }
  const ordered = [...groups.values()].toSorted(
    (a, b) => compare(b.current[measure]!, a.current[measure]!) || compareKeys(a.key, b.key),
  )
  const shown = ordered
    .slice(0, limit)
    .map(({ key, current, previous }) => ({
      key: key,
      groups: 1,
      figures: withPricing(current),
      previous: isCompared ? withPricing(previous) : undefined,
    }))
  const others = ordered.slice(limit)
  if (others.length === 0) return shown
  return [
    ...shown,
    {
      key: undefined,
      groups: others.length,
      figures: withPricing(total(others.map(({ current }) => current))),
      previous: isCompared ? withPricing(total(others.map(({ previous }) => previous))) : undefined,
    },
  ]
}

/** Besides measures `priced` and `unpriced`: more than 0 if tokens of such models were used. */
type Sums = Record<string, bigint>
const ALL = [...MEASURES, 'priced', 'unpriced']
const withPricing = ({ priced, unpriced, ...figures }: Sums) => ({
  ...figures,
  pricing: {
    isPriced: priced! > 0n,
    unpriced: unpriced! > 0n ? ['unpriced'] : [],
    unpricedCount: unpriced! > 0n ? 1 : 0,
  },
})
const zero = (): Sums => Object.fromEntries(ALL.map((name) => [name, 0n]))
const total = (all: readonly Sums[]): Sums =>
  Object.fromEntries(ALL.map((name) => [name, all.reduce((sum, one) => sum + one[name]!, 0n)]))
const compare = <T>(a: T, b: T): number => (a < b ? -1 : Number(a > b))
const compareKeys = (a: readonly (string | number)[], b: readonly (string | number)[]): number =>
  a.reduce<number>((order, value, index) => order || compare(value, b[index]!), 0)
