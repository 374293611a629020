import assert from 'node:assert/strict'
import type { Instant } from '../../../../../src/kernel/codec/instant.js'
import { NO_FILTER } from '../../../../../src/projections/calls/filter.js'
import { COUNTERS } from '../../../../../src/projections/usage/columns.js'
import { AnswerTooLarge } from '../../../../../src/projections/usage/inclusive-usage.js'
import { readTotals, TotalsNotReady } from '../../../../../src/projections/usage/query/open-traces.js'
import { usageBy } from '../../../../../src/projections/usage/query/queries.js'
import { bookOf, type PriceBook } from '../../../../../src/projections/prices/book.js'
import type { StoredPrice } from '../../../../../src/projections/prices/queries.js'
import type { UsageKind } from '../../../../../src/projections/usage/query/usage-rows.js'
import { ended, PROJECT, started } from '../../../../support/oracle/given.js'
import { totalsOfProject } from '../totals-service.js'

/** The columns of an open row: seven of the call and model, seven texts, and the counters. */
const OPEN_COLUMNS = 7 + 7 + COUNTERS.length

const price = (effective_date: string, cost: string): StoredPrice => ({
  owner: PROJECT,
  id: effective_date,
  llm_id: 'gpt',
  prompt_token_cost: cost,
  completion_token_cost: cost,
  cache_read_input_token_cost: cost,
  cache_creation_input_token_cost: cost,
  cache_creation_1h_input_token_cost: cost,
  prompt_token_cost_unit: 'USD',
  completion_token_cost_unit: 'USD',
  provider_id: '',
  created_by: '',
  effective_date: effective_date as Instant,
  created_at: effective_date as Instant,
})

/** A token costs 1 until the given second of 2025, and 10 from then on. */
const risingAt = (second: number) =>
  bookOf([price('2024-01-01T00:00:00.000000Z', '1'), price(timeAt(second), '10')], PROJECT, undefined)

const timeAt = (second: number) =>
  new Date(Date.UTC(2025, 0, 1, 0, 0, second)).toISOString().replace('Z', '000Z') as Instant

interface Asked {
  readonly kind?: UsageKind
  readonly prices?: PriceBook | null
  readonly position?: bigint
  readonly traces?: readonly string[] | null
  readonly rootsOnly?: boolean
  /** The seconds of 2025 in which calls started. */
  readonly during?: readonly [from: number, to: number]
  /** What happens before the rows are read, and after. */
  readonly beforeRead?: () => Promise<void>
  readonly afterRead?: () => Promise<void>
}

describe('usage of open traces', () => {
  const { clickHouse, head, given, pass } = totalsOfProject()

  /** The sums of all selected calls, and what was computed for them. */
  const ask = async ({
    kind = 'own',
    prices = null,
    position = head(),
    traces = null,
    rootsOnly = false,
    during,
    afterRead,
    beforeRead,
  }: Asked) => {
    const filter = { ...NO_FILTER, trace_ids: traces, trace_roots_only: rootsOnly }
    const reading = {
      projectId: PROJECT,
      filter,
      operation: null,
      position,
      kind,
      prices,
      ...(during && { began: { from: timeAt(during[0]), to: timeAt(during[1]) } }),
    }
    return readTotals(clickHouse().reader, reading, async (open) => {
      await beforeRead?.()
      const groups = await usageBy(clickHouse().reader, {
        ...reading,
        open,
        groupBy: [],
        orderBy: [],
        limit: 1,
        isCompared: false,
      })
      await afterRead?.()
      const { calls, total_tokens, total_cost } = groups[0]?.figures ?? {}
      return {
        sums: { calls, tokens: total_tokens, cost: (total_cost ?? 0n) / 10n ** 12n },
        open: open.isAll === true ? ['all'] : open.traceIds,
        rows: open.rows.flatMap((list) => JSON.parse(list) as readonly (readonly unknown[])[]),
      }
    })
  }
  const sums = async (asked: Asked = {}) => (await ask(asked)).sums
  const prompt = (model: string, prompt_tokens: number) => ({ [model]: { prompt_tokens } })

  it('counts a call once that used one model, and another in a report that was not understood', async () => {
    const isZero = (completion_tokens: number) => ({ zero: { completion_tokens } })
    await given(
      started('root'),
      started('child', { in: 'root' }),
      ended('child', 1, { ...isZero(-5), used: { completion_tokens: 3 } }),
      ended('root', 2, isZero(0)),
      { kind: 'reporting', usage_reporting: 'own' },
    )
    const inclusive = { kind: 'inclusive', rootsOnly: true } as const
    const { rows, sums: root } = await ask(inclusive)
    assert.deepEqual(root, { calls: 1n, tokens: 3n, cost: 0n })
    assert.deepEqual([...new Set(rows.map(({ length }) => length))], [OPEN_COLUMNS])
    await pass()
    const stored = await ask(inclusive)
    assert.deepEqual([stored.open, stored.sums], [[], root])
    assert.deepEqual(await sums(), { calls: 1n, tokens: 3n, cost: 0n })
  })

  it('reads an end that is later than the totals, and not as of the position of the totals', async () => {
    const early = await given(started('a'), started('b', { trace: 'other' }), ended('b', 1, prompt('gpt', 2)))
    await pass()
    await given(ended('a', 1, prompt('gpt', 5)))
    assert.deepEqual((await ask({})).open, ['t'])
    assert.deepEqual(await sums(), { calls: 2n, tokens: 7n, cost: 0n })
    assert.deepEqual(await sums({ position: early }), { calls: 1n, tokens: 2n, cost: 0n })
    await pass()
    assert.deepEqual((await ask({})).open, [])
    assert.deepEqual(await sums(), { calls: 2n, tokens: 7n, cost: 0n })
    const answered = await ask({ position: early })
    assert.deepEqual([answered.open, answered.sums], [['t'], { calls: 1n, tokens: 2n, cost: 0n }])
  })

  it('computes as of an earlier position only the traces of the range that changed since', async () => {
    await given(
      ...[10, 20, 30].flatMap((second) => {
        const id = `call-${second}`
        return [started(id, { trace: id, at: second }), ended(id, second + 1, prompt('gpt', second))]
      }),
    )
    const early = await given(started('late', { trace: 'call-10', in: 'call-10', at: 11 }))
    await given(ended('late', 40, prompt('gpt', 1)), ended('call-20', 41, prompt('gpt', 5)))
    await given(started('new', { trace: 'new', at: 12 }), ended('new', 13, prompt('gpt', 100)))
    await given({ kind: 'delete', call_ids: ['call-30'] })
    await pass()
    const within = (from: number, to: number, position: bigint) => ask({ position, during: [from, to] })
    const first = await within(10, 20, early)
    assert.deepEqual([first.open.toSorted(), first.sums.tokens], [['call-10', 'new'], 10n])
    assert.equal((await within(10, 20, head())).sums.tokens, 111n)
    const last = await within(30, 40, early)
    assert.deepEqual([last.open, last.sums.tokens], [['call-30'], 30n])
    assert.equal((await within(30, 40, head())).sums.tokens, undefined)
  })

  it('leaves out a call that was deleted after the totals', async () => {
    await given(started('a'), ended('a', 1, prompt('gpt', 5)), started('b'), ended('b', 1, prompt('gpt', 2)))
    await pass()
    await given({ kind: 'delete', call_ids: ['a'] })
    assert.deepEqual(await sums(), { calls: 1n, tokens: 2n, cost: 0n })
    await pass()
    assert.deepEqual(await sums(), { calls: 1n, tokens: 2n, cost: 0n })
  })

  it('computes all traces when the usage that is reported changed after the totals', async () => {
    const nested = [
      started('root'),
      started('child', { in: 'root' }),
      ended('child', 1, prompt('gpt', 3)),
      ended('root', 2, prompt('gpt', 5)),
    ]
    const asOwn = await given({ kind: 'reporting', usage_reporting: 'own' }, ...nested)
    await pass()
    await given({ kind: 'reporting', usage_reporting: 'rolled_up' })
    assert.deepEqual((await ask({})).open, ['all'])
    assert.equal((await sums()).tokens, 5n)
    assert.equal((await sums({ position: asOwn })).tokens, 8n)
    await pass()
    assert.deepEqual((await ask({})).open, [])
    assert.equal((await sums()).tokens, 5n)
    assert.equal((await sums({ position: asOwn })).tokens, 8n)
  })

  it('prices calls apart when the price changed between them, also at the start of the last one', async () => {
    await given(
      started('root'),
      started('first', { in: 'root', at: 10 }),
      ended('first', 11, prompt('gpt', 2)),
      started('last', { in: 'root', at: 20 }),
      ended('last', 21, prompt('gpt', 3)),
      ended('root', 30),
    )
    await pass()
    for (const [second, open, cost] of [
      [10, [], 50n],
      [11, ['t'], 32n],
      [20, ['t'], 32n],
      [21, [], 5n],
    ] as const) {
      const asked = { kind: 'inclusive', rootsOnly: true, prices: risingAt(second) } as const
      const answered = await ask(asked)
      assert.deepEqual([answered.open, answered.sums.cost], [open, cost], `price from second ${second}`)
    }
  })

  it('computes only the changed traces that the filter selects', async () => {
    await given(started('a'), started('b', { trace: 'other' }))
    await pass()
    await given(ended('a', 1, prompt('gpt', 5)), ended('b', 1, prompt('gpt', 2)))
    const { open, sums: answered } = await ask({ traces: ['other'] })
    assert.deepEqual(open, ['other'])
    assert.equal(answered.tokens, 2n)
  })

  it('reads again when a pass replaced rows afterRead, and gives up when passes never end', async () => {
    await given(started('a'), ended('a', 1, prompt('gpt', 5)))
    await pass()
    const position = head()
    let times = 0
    const runsPass = async () => {
      times += 1
      await given(started(`more ${times}`), ended(`more ${times}`, 1, prompt('gpt', 1)))
      await pass()
    }
    const once = () => (times === 0 ? runsPass() : Promise.resolve())
    const answered = await ask({ position, afterRead: once })
    assert.deepEqual([answered.open, answered.sums.tokens], [['t'], 5n])
    await assert.rejects(ask({ position, afterRead: runsPass }), TotalsNotReady)
  })

  it('reads again when a rebuild exchanges tables for those of earlier totals', async () => {
    const { writer } = clickHouse()
    const tables = ['usage_totals', 'checkpoints']
    await given(started('a'), ended('a', 1, prompt('gpt', 1)))
    await pass()
    for (const table of tables) {
      await writer.command(`CREATE TABLE second_${table} AS ${table}`)
      await writer.command(`INSERT INTO second_${table} SELECT * FROM ${table}`)
    }
    await given(started('b'), ended('b', 1, prompt('gpt', 10)))
    await pass()
    let isExchanged = false
    const exchange = async () => {
      if (isExchanged) return
      isExchanged = true
      for (const table of tables) await writer.command(`EXCHANGE TABLES ${table} AND second_${table}`)
    }
    const answered = await ask({ beforeRead: exchange })
    for (const table of tables) await writer.command(`DROP TABLE second_${table}`)
    assert.deepEqual([answered.open, answered.sums.tokens], [['t'], 11n])
  })

  it('refuses a range with calls of a trace whose totals lack their usage, wherever the trace begins', async () => {
    const calls = Array.from({ length: 500 }, (_, n) => `call-${n}`)
    const unused = 100
    await given(
      ...calls.map((id, n) => started(id, { at: n, ...(n === 0 ? {} : { in: calls[n - 1]! }) })),
      ...calls.map((id, n) => ended(id, 2000 - n, n === unused ? {} : prompt(`model-${n}`, 1))).reverse(),
      { kind: 'reporting', usage_reporting: 'own' },
    )
    await pass()
    const inclusive = (from: number, to: number) => ask({ kind: 'inclusive', during: [from, to] })
    await assert.rejects(inclusive(unused, unused + 1), AnswerTooLarge)
    assert.equal((await inclusive(600, 700)).sums.tokens, undefined)
    assert.equal((await ask({ kind: 'inclusive', rootsOnly: true })).sums.tokens, 499n)
    assert.deepEqual(await sums(), { calls: 499n, tokens: 499n, cost: 0n })
  })
})
