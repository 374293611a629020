import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

const PROJECT = 'team/exporting'
const FORMULA = '=HYPERLINK("http://x","y")'

/** The model, its tokens, the attribute and the start of each call. */
const CALLS = [
  ['gpt-4o-mini', 1_000_000, 'web', '2026-02-28T23:30:00Z'],
  ['gpt-4o-mini', 500_000, 'web', '2026-03-01T10:00:00Z'],
  [FORMULA, 300_000, '+1', '2026-03-01T10:00:00Z'],
  ['@SUM(A1)', 200_000, null, '2026-03-01T10:00:00Z'],
  ['rest-1', 20, 'x', '2026-03-02T10:00:00Z'],
  ['rest-2', 10, 'y', '2026-03-02T10:00:00Z'],
] as const

describe('exports of usage', () => {
  let sdk: PythonSdk
  let printed: JsonObject
  before(async () => {
    sdk = await startPythonSdk()
    const batch = CALLS.map(([model, prompt_tokens, team, at], n) => ({
      project_id: PROJECT,
      id: `c${n}`,
      trace_id: `c${n}`,
      op_name: 'op',
      started_at: at,
      ended_at: at,
      attributes: team === null ? {} : { team },
      inputs: {},
      summary: { usage: { [model]: { prompt_tokens, total_tokens: prompt_tokens, requests: 1 } } },
    }))
    await sdk.answered(`/v2/${PROJECT}/calls/complete`, { batch })
    printed = await sdk.printed('exporting.py', [PROJECT])
  })
  after(() => sdk.stop())

  it('have a file name', () =>
    assert.deepEqual(printed['names'], ['usage-exporting.csv', 'usage-exporting.parquet']))

  it('have times that pandas, polars and DuckDB read as such', () => {
    for (const type of printed['pandas'] as readonly string[]) assert.match(type, /^datetime64\[/)
    const [csv, parquet, cost] = printed['polars'] as readonly string[]
    for (const type of [csv, parquet]) assert.match(type!, /^Datetime\(/)
    assert.match(cost!, /^Decimal\((precision=)?38/)
    for (const { day } of printed['duckdb'] as readonly { day: string }[])
      assert.equal(day, 'TIMESTAMP WITH TIME ZONE')
  })

  it('have decimals that DuckDB adds up exactly', () => {
    const [csv, parquet] = printed['duckdb'] as readonly { total_cost: string; calls: string }[]
    assert.equal(parquet!.total_cost, 'DECIMAL(38,12)')
    assert.equal(csv!.calls, 'BIGINT')
    // 1,500,000 tokens at 0.15 dollars a million.
    assert.deepEqual(printed['sum_of_costs'], ['0.225000000000', '0.225000000000'])
  })

  it('have nulls for the dimensions of the other groups and for unknown costs', () => {
    const rows = printed['rows'] as readonly (readonly Json[])[]
    assert.deepEqual(rows, [
      ['2026-02-28T23:00:00+00:00', 'gpt-4o-mini', 'web', '1.0', '2.0', '1500000.0', '0.225'],
      ['2026-02-28T23:00:00+00:00', FORMULA, '+1', '1.0', '1.0', '300000.0', null],
      ['2026-02-28T23:00:00+00:00', '@SUM(A1)', '', '1.0', '1.0', '200000.0', null],
      ['2026-03-01T23:00:00+00:00', 'rest-1', 'x', '1.0', '1.0', '20.0', null],
      [null, null, null, '1.0', '1.0', '10.0', null],
    ])
    assert.equal(printed['nulls'], 1)
  })

  it('have no formulas in a spreadsheet', () => {
    assert.deepEqual(printed['formulas'], [])
    assert.deepEqual(printed['csv_models'], ['gpt-4o-mini', `'${FORMULA}`, "'@SUM(A1)", 'rest-1', ''])
  })

  it('have the same figures as JSON lines', () => {
    const lines = printed['lines'] as readonly { usage: { total_tokens: number; total_cost: number } }[]
    assert.deepEqual(
      lines.map(({ usage }) => [usage.total_tokens, usage.total_cost]),
      [
        [1_500_000, 0.225],
        [300_000, null],
        [200_000, null],
        [20, null],
        [10, null],
      ],
    )
  })
})
