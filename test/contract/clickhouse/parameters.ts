import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ReadTooExpensive, type ClickHouse, type SqlParameter } from '../../../src/kernel/ports/clickhouse.js'
import { troublesomeText } from '../../support/arbitrary-json.js'

const wellFormedText = troublesomeText().map((text) => text.toWellFormed())

const lengthen = (text: string, to: number): string => text.repeat(Math.ceil(to / text.length)).slice(0, to)

/** Values come back as they went, and none of them becomes SQL. */
export const describeParameters = (opened: () => ClickHouse): void => {
  const { reader, writer } = { reader: () => opened().reader, writer: () => opened().writer }

  const echoed = async (type: string, value: SqlParameter): Promise<unknown> => {
    const [row] = await reader().query<{ value: unknown }>(`SELECT {value:${type}} AS value`, { value })
    return row?.value
  }

  it('gives back any text that was a parameter', async () => {
    await fc.assert(
      fc.asyncProperty(wellFormedText, async (text) => assert.equal(await echoed('String', text), text)),
      { numRuns: 150 },
    )
  })

  it('gives back any list of texts that was a parameter', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(wellFormedText), async (texts) =>
        assert.deepEqual(await echoed('Array(String)', texts), texts),
      ),
      { numRuns: 100 },
    )
    assert.deepEqual(await echoed('Array(String)', []), [])
    assert.deepEqual(await echoed('Array(String)', ['']), [''])
  })

  it('does not take a text for a placeholder', async () => {
    for (const text of ['{value:String}', "'{value:String}'", '`', '--', '/*'])
      assert.equal(await echoed('String', text), text)
  })

  it('gives a parameter the type of its placeholder', async () => {
    const [row] = await reader().query<{ types: readonly string[] }>(
      'SELECT [toTypeName({a:UInt64}), toTypeName({b:Array(String)}), toTypeName({c:Array(String)})] AS types',
      { a: 1, b: [], c: ['x'] },
    )
    assert.deepEqual(row?.types, ['UInt64', 'Array(String)', 'Array(String)'])
  })

  it('gives back what else can be a parameter', async () => {
    assert.equal(await echoed('Nullable(String)', null), null)
    assert.equal(await echoed('Bool', true), true)
    assert.equal(await echoed('Float64', 0.1), 0.1)
    assert.equal(await echoed('Int64', -7), -7)
    assert.equal(await echoed('UInt64', 2n ** 53n - 1n), 2 ** 53 - 1)
    assert.deepEqual(await echoed('Array(UInt64)', [1, 2n]), [1, 2])
    const [row] = await reader().query<{ text: string }>('SELECT toString({value:UInt64}) AS text', {
      value: 2n ** 64n - 1n,
    })
    assert.equal(row?.text, '18446744073709551615')
  })

  it('keeps apart parameters of several names, and of reads that run at once', async () => {
    const reads = Array.from({ length: 40 }, (_, i) =>
      reader().query('SELECT {a:String} AS a, {b:Array(String)} AS b, {c:UInt64} AS c', {
        a: `a${i}`,
        b: [`b${i}`],
        c: i,
      }),
    )
    for (const [i, rows] of (await Promise.all(reads)).entries())
      assert.deepEqual(rows, [{ a: `a${i}`, b: [`b${i}`], c: i }])
  })

  it('takes parameters on the connection that writes as well', async () => {
    assert.deepEqual(await writer().query("SELECT {x:String} || 'y' AS xy", { x: "'" }), [{ xy: "'y" }])
  })

  it('takes lists far longer than an address can be', async () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => lengthen(`${i}:漢字'\\"`, 120))
    const sql = `SELECT length({ids:Array(String)}) AS length, {last:String} IN {ids:Array(String)} AS has,
      toString(cityHash64({ids:Array(String)})) = toString(cityHash64({ids:Array(String)})) AS same`
    const parameters = { ids, last: ids.at(-1)! }

    assert.deepEqual(await reader().query(sql, parameters), [{ length: 10_000, has: 1, same: 1 }])

    const echo = await reader().query<{ ids: string[] }>('SELECT {ids:Array(String)} AS ids', { ids })
    assert.deepEqual(echo[0]?.ids, ids)
    let bytes = 0
    for await (const chunk of reader().stream(
      `SELECT number FROM numbers(10) WHERE toString(number) NOT IN {ids:Array(String)}`,
      { ids },
    ))
      bytes += chunk.length
    assert.ok(bytes >= 80)
  })

  it('refuses a statement longer than the engine reads', async () => {
    const value = 'x'.repeat(80_000_000)
    await assert.rejects(echoed('String', value), new ReadTooExpensive('memory'))
  })
}
