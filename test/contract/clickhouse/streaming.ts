import assert from 'node:assert/strict'
import {
  ReadTooExpensive,
  type ClickHouse,
  type SqlParameters,
} from '../../../src/kernel/ports/clickhouse.js'
import { nativeBlocks } from '../../../src/projections/usage/native.js'

const ROWS = 200_000
const NUMBERS = `SELECT toFloat64(number) AS n, concat({prefix:String}, toString(number)) AS text
  FROM numbers({rows:UInt64}) ORDER BY number`
const ENDLESS = 'SELECT toFloat64(number) FROM numbers(1000000000000)'
const FAILING =
  'SELECT toFloat64(throwIf(number = 900000)) FROM numbers(1000000) SETTINGS max_block_size = 10000'

/** Answers too large to hold come as they are made; one that cannot be completed never looks complete. */
export const describeStreaming = (opened: () => ClickHouse): void => {
  const bytesOf = async (sql: string, parameters?: SqlParameters): Promise<number> => {
    let bytes = 0
    for await (const chunk of opened().reader.stream(sql, parameters)) bytes += chunk.length
    return bytes
  }

  it('streams every row once, whole and in order, wherever the chunks break', async () => {
    let next = 0
    const chunks = opened().reader.stream(NUMBERS, { prefix: "it's 漢 ", rows: ROWS })
    for await (const { rows, columns } of nativeBlocks(chunks)) {
      const [numbers, texts] = columns
      assert.ok(numbers?.kind === 'numbers' && texts?.kind === 'strings')
      for (let i = 0; i < rows; i += 1, next += 1) {
        if (numbers.values[i] !== next) assert.fail(`row ${next} is ${numbers.values[i]}`)
        const text = Buffer.from(texts.bytes.subarray(texts.starts[i], texts.ends[i])).toString('utf8')
        if (text !== `it's 漢 ${next}`) assert.fail(`row ${next} is ${text}`)
      }
    }
    assert.equal(next, ROWS)
  })

  it('streams an answer without rows', async () => {
    let rows = 0
    for await (const block of nativeBlocks(opened().reader.stream(NUMBERS, { prefix: '', rows: 0 })))
      rows += block.rows
    assert.equal(rows, 0)
  })

  it('lets go of streams that are left half-way', async () => {
    for (let i = 0; i < 8; i += 1)
      for await (const chunk of opened().reader.stream(`${ENDLESS} LIMIT 3000000`))
        if (chunk.length > 0) break
    assert.ok((await bytesOf(NUMBERS, { prefix: '', rows: 10 })) > 0)
  })

  it('fails where the statement is wrong, and where it fails half-way', async () => {
    await assert.rejects(bytesOf('SELECT nothing'), { code: '47' })
    await assert.rejects(bytesOf(FAILING), { code: '395' })
    await assert.rejects(opened().reader.query(FAILING), { code: '395' })
    assert.ok((await bytesOf(NUMBERS, { prefix: '', rows: 10 })) > 0)
  })

  for (const [limit, sql] of [
    [
      'time',
      'SELECT number FROM numbers(1000000000000) WHERE sipHash64(number) = 1 SETTINGS max_execution_time = 1',
    ],
    [
      'memory',
      'SELECT length(groupArray(number)) FROM numbers(100000000) SETTINGS max_memory_usage = 20000000',
    ],
  ] as const)
    it(`gives up what goes over its limit of ${limit}`, async () => {
      const tooExpensive = (error: unknown) => error instanceof ReadTooExpensive && error.limit === limit
      await assert.rejects(opened().reader.query(sql), tooExpensive)
      await assert.rejects(bytesOf(sql), tooExpensive)
    })
}
