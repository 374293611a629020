import assert from 'node:assert/strict'
import fc from 'fast-check'
import { RowsRefused, type ClickHouse } from '../../../src/kernel/ports/clickhouse.js'
import { troublesomeText } from '../../support/arbitrary-json.js'

const TABLE = `CREATE TABLE IF NOT EXISTS kinds (
  id UInt32, text String, maybe Nullable(String), integer Int64, large UInt64,
  instant DateTime64(6, 'UTC'), word Enum8('' = 0, 'a' = 1), texts Array(LowCardinality(String)), figures Array(Int64)
) ENGINE = MergeTree ORDER BY id`

const COLUMNS = ['text', 'maybe', 'integer', 'large', 'instant', 'word', 'texts', 'figures'] as const
type Values = Partial<Record<(typeof COLUMNS)[number], unknown>>

const PLAIN: Values = {
  text: 'text',
  maybe: null,
  integer: 1,
  large: '1',
  instant: '2026-01-01 00:00:00.000000',
  word: '',
  texts: [],
  figures: [],
}

const wellFormedText = troublesomeText().map((text) => text.toWellFormed())

/** Rows are read back as they were inserted, or refused as a whole for their data. */
export const describeInserting = (opened: () => ClickHouse): void => {
  let lastId = 0
  before(() => opened().writer.command(TABLE))

  const insert = async (rows: readonly Values[]): Promise<readonly number[]> => {
    const ids = rows.map(() => (lastId += 1))
    const values = rows.map((row, i) => [ids[i], ...COLUMNS.map((column) => ({ ...PLAIN, ...row })[column])])
    await opened().writer.insert({ table: 'kinds', columns: ['id', ...COLUMNS], values })
    return ids
  }

  const readBack = (ids: readonly number[]) =>
    opened().reader.query('SELECT * EXCEPT id FROM kinds WHERE id IN {ids:Array(UInt32)} ORDER BY id', {
      ids,
    })

  it('reads back text and lists of any kind', async () => {
    const arbitraryRows = fc.array(
      fc.record({ text: wellFormedText, maybe: fc.option(wellFormedText), texts: fc.array(wellFormedText) }),
      { minLength: 1, maxLength: 20 },
    )
    await fc.assert(
      fc.asyncProperty(arbitraryRows, async (rows) => {
        const expected = rows.map((row) => ({ ...PLAIN, large: 1, ...row }))
        assert.deepEqual(await readBack(await insert(rows)), expected)
      }),
      { numRuns: 40 },
    )
  })

  it('reads back integers as numbers, and whole where they are asked for as text', async () => {
    const largest = {
      integer: '-9223372036854775808',
      large: '18446744073709551615',
      figures: [2 ** 53, -(2 ** 53)],
    }
    const ids = await insert([largest])
    assert.deepEqual(await readBack(ids), [{ ...PLAIN, ...largest, integer: -(2 ** 63), large: 2 ** 64 }])
    const text =
      'SELECT toString(integer) AS integer, toString(large) AS large FROM kinds WHERE id = {id:UInt32}'
    assert.deepEqual(await opened().reader.query(text, { id: ids[0]! }), [
      { integer: largest.integer, large: largest.large },
    ])
  })

  it('reads back instants of the first and the last year', async () => {
    const rows = ['1900-01-01 00:00:00.000001', '2299-12-31 23:59:59.999999'].map((instant) => ({ instant }))
    const expected = rows.map((row) => ({ ...PLAIN, large: 1, ...row }))
    assert.deepEqual(await readBack(await insert(rows)), expected)
  })

  it('takes an object or a list for a text column as its JSON', async () => {
    const value = { b: [1, 'ü\u2028'], a: { __proto: null } }
    const ids = await insert([{ text: value, maybe: [value] }])
    assert.deepEqual(await readBack(ids), [
      { ...PLAIN, large: 1, text: JSON.stringify(value), maybe: JSON.stringify([value]) },
    ])
  })

  it('shows rows to every reader as soon as they are inserted', async () => {
    for (let i = 0; i < 10; i += 1) {
      const ids = await insert([{ text: String(i) }, {}])
      const reads = await Promise.all([1, 2, 3, 4].map(() => readBack(ids)))
      for (const rows of reads) assert.equal(rows.length, 2)
    }
  })

  it('inserts many rows at once, and none', async () => {
    const ids = await insert(Array.from({ length: 20_000 }, (_, i) => ({ integer: i })))
    const [row] = await opened().reader.query(
      'SELECT count() AS rows, sum(integer) AS sum FROM kinds WHERE id BETWEEN {from:UInt32} AND {to:UInt32}',
      { from: ids[0]!, to: ids.at(-1)! },
    )
    assert.deepEqual(row, { rows: 20_000, sum: 199_990_000 })
    await opened().writer.insert({ table: 'kinds', columns: ['id'], values: [] })
  })

  const REFUSED: Readonly<Record<string, Values>> = {
    'a word for an integer': { integer: 'many' },
    'a fraction for an integer': { integer: 1.5 },
    'an integer beyond all digits': { integer: 1e300 },
    'a negative number for an unsigned one': { large: '-1' },
    'a date that is none': { instant: '9999-99-99 00:00:00.000000' },
    'no date': { instant: '' },
    'an unknown word for an enum': { word: 'b' },
    'words for a list of integers': { figures: ['x'] },
    'fractions in a list': { figures: [0.5] },
    'an object for a list': { figures: {} },
    'half a surrogate pair': { text: '\ud800' },
    'half a surrogate pair in a list': { texts: ['\ud800'] },
  }

  for (const [name, values] of Object.entries(REFUSED))
    it(`refuses rows for their data: ${name}`, async () => {
      await assert.rejects(insert([{}, values, {}]), RowsRefused)
      assert.equal((await readBack(await insert([{}]))).length, 1)
    })

  it('does not blame the rows where the table is missing', async () => {
    const rows = { table: 'missing', columns: ['id'], values: [[1]] }
    await assert.rejects(opened().writer.insert(rows), (error) => !(error instanceof RowsRefused))
  })
}
