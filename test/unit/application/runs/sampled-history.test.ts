import assert from 'node:assert/strict'
import { ReadBudget } from '../../../../src/application/read-budget.js'
import {
  NUMBER,
  STEPS,
  type Column,
  type ColumnKey,
  type HistoryColumns,
} from '../../../../src/application/runs/history-columns.js'
import type { HistoryChunk } from '../../../../src/application/runs/history-parts.js'
import { sampleColumns } from '../../../../src/application/runs/sampled-history.js'

const ROWS_OF_CHUNK = 40_000
const KEYS = Array.from({ length: 20 }, (_, at) => `metric-${at}`)
const NO_RANGE = { minStep: null, maxStep: null }

const chunkAt = (number: number): HistoryChunk => ({
  of: 'lines',
  rows: ROWS_OF_CHUNK,
  offset: number * ROWS_OF_CHUNK,
  writer: null,
  minStep: number * ROWS_OF_CHUNK,
  maxStep: (number + 1) * ROWS_OF_CHUNK - 1,
  before: 0,
  times: null,
  revision: BigInt(number),
})

const columnOf = (valueAt: (row: number) => number): Column => ({
  numbers: Float64Array.from({ length: ROWS_OF_CHUNK }, (_, row) => valueAt(row)),
  kinds: new Uint8Array(ROWS_OF_CHUNK).fill(NUMBER),
})

/** Rows of 20 metrics, of which the last is -1 at the step and 0 elsewhere. */
const runOf = (rows: number, step: number) => {
  const column = columnOf((row) => row)
  const last = columnOf(() => 0)
  const columnsOf: HistoryColumns = (_, { offset }, keys) => {
    const steps = columnOf((row) => offset + row)
    const at = (key: ColumnKey) => {
      if (key === STEPS || key === '_step') return steps
      if (key !== KEYS.at(-1)) return column
      return offset <= step && step < offset + ROWS_OF_CHUNK
        ? columnOf((row) => (offset + row === step ? -1 : 0))
        : last
    }
    return Promise.resolve(new Map(keys.map((key) => [key, at(key)])))
  }
  const linesOf = () => Promise.reject(new Error('all values are numbers'))
  const chunks = Array.from({ length: rows / ROWS_OF_CHUNK }, (_, number) => chunkAt(number))
  const stretch = { stream: 'run-r', chunks, range: NO_RANGE, highestStep: rows - 1 }
  return (keys: readonly string[]) =>
    sampleColumns(
      { columnsOf, linesOf },
      [stretch],
      [{ keys: ['_step', ...keys], range: NO_RANGE, most: 500 }],
      new ReadBudget(),
    )
}

describe('the sampled history of a run', () => {
  it('has 1,000,000 rows of 20 metrics, with the extremes of each', async () => {
    const [rows] = await runOf(1_000_000, 777_777)(KEYS)
    assert.ok(rows!.length > 400 && rows!.length <= 500)
    const steps = rows!.map((row) => row['_step'])
    assert.deepEqual([steps[0], steps.at(-1)], [0, 999_999])
    assert.deepEqual(rows!.find((row) => row['metric-19'] === -1)?.['_step'], 777_777)
  })

  it('is refused for keys that would hold too much memory', () =>
    assert.rejects(runOf(2_000_000, 0)(KEYS), /at most 32000000 values of histories. Ask for fewer keys/))
})
