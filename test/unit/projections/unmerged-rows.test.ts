import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Instant } from '../../../src/kernel/codec/instant.js'
import {
  ClickHouseUnavailable,
  type ClickHouse,
  type ClickHouseReader,
  type TimeRange,
} from '../../../src/kernel/ports/clickhouse.js'
import {
  ALL_MERGED,
  overlapsOf,
  readMerged,
  REFUSAL_MS,
  type MergedRows,
} from '../../../src/projections/unmerged-rows.js'
import { select, sql, statementOf, type Sql } from '../../../src/projections/sql.js'
import { COUNTS } from '../../counts.js'
import { openTestClickHouse } from '../../support/engine.js'

const timeAt = (second: number): string =>
  `${new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString().slice(0, 19).replace('T', ' ')}.000000`

const arbitraryRange = fc
  .tuple(fc.nat(60), fc.nat(10))
  .map(([from, length]): TimeRange => ({ from: timeAt(from), to: timeAt(from + length) }))

const covers = (time: string) => (range: TimeRange) => range.from <= time && time <= range.to

const TIMES = Array.from({ length: 72 }, (_, second) => timeAt(second))

describe('ranges of several parts', () => {
  it('cover exactly the times that two or more ranges have', () => {
    fc.assert(
      fc.property(fc.array(arbitraryRange), (ranges) => {
        const overlaps = overlapsOf(ranges, 100)
        for (const time of TIMES)
          assert.equal(overlaps.some(covers(time)), ranges.filter(covers(time)).length > 1, time)
      }),
    )
  })

  it('are ascending, disjoint and limited, and still cover these times when they are joined', () => {
    fc.assert(
      fc.property(fc.array(arbitraryRange), fc.integer({ min: 1, max: 4 }), (ranges, limit) => {
        const overlaps = overlapsOf(ranges, limit)
        assert.ok(overlaps.length <= limit)
        for (const [n, { from, to }] of overlaps.entries())
          assert.ok(from <= to && (n === 0 || overlaps[n - 1]!.to < from))
        for (const time of TIMES)
          if (ranges.filter(covers(time)).length > 1) assert.ok(overlaps.some(covers(time)), time)
      }),
    )
  })

  it('are joined across the shortest gaps', () => {
    const twice = (from: number, to: number) => {
      const range = { from: timeAt(from), to: timeAt(to) }
      return [range, range]
    }
    const ranges = [...twice(0, 1), ...twice(3, 4), ...twice(20, 21), ...twice(50, 51), ...twice(55, 56)]
    assert.deepEqual(overlapsOf(ranges, 3), [
      { from: timeAt(0), to: timeAt(4) },
      { from: timeAt(20), to: timeAt(21) },
      { from: timeAt(50), to: timeAt(56) },
    ])
  })
})

const OF_B = { projectId: 'b' }

describe('merged rows', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    for (const table of ['calls', 'other_calls']) {
      await clickHouse.writer
        .command(`CREATE TABLE ${table} (project_id String, started_at DateTime64(6, 'UTC'),
        id UInt8, value Nullable(UInt8)) ENGINE = CoalescingMergeTree ORDER BY (project_id, started_at, id)`)
      await clickHouse.writer.command(`SYSTEM STOP MERGES ${table}`)
    }
  })
  beforeEach(async () => {
    for (const table of ['calls', 'other_calls']) await clickHouse.writer.command(`TRUNCATE TABLE ${table}`)
  })
  after(() => clickHouse.close())

  const arbitraryRow = fc.record({
    project: fc.constantFrom('a', 'b', 'c'),
    second: fc.oneof(
      fc.nat(20),
      fc.nat(20).map((n) => n * 86_400),
      // Before 1970.
      fc.nat(3).map((n) => -100 * 365 * 86_400 + n),
    ),
    id: fc.nat(3),
    value: fc.option(fc.nat(9)),
  })
  type Row = typeof arbitraryRow extends fc.Arbitrary<infer R> ? R : never

  const insert = (table: string, rows: readonly Row[]) =>
    clickHouse.writer.insert({
      table,
      columns: ['project_id', 'started_at', 'id', 'value'],
      values: rows.map(({ project, second, id, value }) => [project, timeAt(second), id, value]),
    })

  const condition = sql`project_id = ${'b'}`
  const ordered = (rows: Sql) =>
    select(clickHouse.reader, sql`SELECT * FROM (${rows}) ORDER BY started_at, id`)
  const withFinal = () => ordered(sql`SELECT started_at, id, value FROM calls FINAL WHERE ${condition}`)
  const valuesOf = (rows: MergedRows) =>
    Object.values(statementOf(rows(sql`id`, 'calls', sql`true`)).parameters)
  const read = (before: () => Promise<unknown> = () => Promise.resolve()) =>
    readMerged(clickHouse.reader, OF_B, ['calls'], async ({ calls = ALL_MERGED }) => {
      await before()
      return ordered(calls(sql`started_at, id, value`, 'calls', condition))
    })

  it('equal the rows read with FINAL for any distribution over parts', async function () {
    this.timeout(60_000)
    const arbitraryParts = fc.array(fc.array(arbitraryRow, { minLength: 1, maxLength: 8 }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(arbitraryParts, async (parts) => {
        await clickHouse.writer.command('TRUNCATE TABLE calls')
        for (const rows of parts) await insert('calls', rows)
        assert.deepEqual(await read(), await withFinal())
      }),
      { numRuns: COUNTS.mergedParts, endOnFailure: true },
    )
  })

  it('are all rows of replicated tables', async () => {
    await insert('calls', [{ project: 'b', second: 1, id: 1, value: null }])
    const { reader } = clickHouse
    // The embedded engine has no Keeper for replicated tables, so only the name of the engine is another.
    const replicated: ClickHouseReader = {
      ...reader,
      query: async <Row>(...[sql, parameters]: Parameters<ClickHouseReader['query']>) => {
        const rows = await reader.query<Row & { engine?: string }>(sql, parameters)
        return rows.map((row) =>
          row.engine === undefined ? row : { ...row, engine: `Replicated${row.engine}` },
        )
      },
    }
    const mergedOf = (from: ClickHouseReader) =>
      readMerged(from, OF_B, ['calls'], (rows) => Promise.resolve(rows.calls ?? ALL_MERGED))
    assert.equal(await mergedOf(replicated), ALL_MERGED)
    assert.notEqual(await mergedOf(reader), ALL_MERGED)
  })

  /** The reader, with the statements that it was given, and work to be done before one of them. */
  const watched = (
    isBefore: (sql: string) => boolean = () => false,
    work: () => Promise<void> = () => Promise.resolve(),
    { reader } = clickHouse,
  ) => {
    const statements: string[] = []
    const from: ClickHouseReader = {
      ...reader,
      query: async <Row>(...asked: Parameters<ClickHouseReader['query']>) => {
        statements.push(asked[0])
        if (isBefore(asked[0])) await work()
        return reader.query<Row>(...asked)
      },
    }
    const rows = () => readMerged(from, OF_B, ['calls'], ({ calls = ALL_MERGED }) => Promise.resolve(calls))
    return { rows, statements }
  }
  const readsDays = (sql: string): boolean => sql.includes('_part_index')

  it('are found in the parts that were not seen before', async () => {
    const { rows, statements } = watched()
    const row = { project: 'b', second: 1, id: 1, value: null } as const
    const daysRead = () => statements.splice(0).filter(readsDays).length
    await insert('calls', [row])
    assert.notEqual(await rows(), ALL_MERGED)
    assert.equal(daysRead(), 1)
    const values = valuesOf(await rows())
    assert.deepEqual([daysRead(), values], [0, []])
    await insert('calls', [{ ...row, value: 2 }])
    assert.deepEqual(valuesOf(await rows()), [timeAt(1)])
    assert.equal(daysRead(), 1)
  })

  it('are only of the days that are selected', async () => {
    const row = { project: 'b', id: 1, value: null } as const
    for (let times = 0; times < 2; times += 1)
      await insert('calls', [
        { ...row, second: 1 },
        { ...row, second: 86_400 },
      ])
    const began = {
      from: '2026-01-02T00:00:00.000000Z' as Instant,
      to: '2026-01-03T00:00:00.000000Z' as Instant,
    }
    const selected = await readMerged(
      clickHouse.reader,
      { ...OF_B, began },
      ['calls'],
      ({ calls = ALL_MERGED }) => Promise.resolve(valuesOf(calls)),
    )
    assert.deepEqual(selected, [timeAt(86_400)])
  })

  const listsParts = (sql: string): boolean => sql.includes('system.parts')
  const refuse = () =>
    Promise.reject(new ClickHouseUnavailable('refusing', 'ACCESS_DENIED (497)', { code: '497' }))

  describe('of a user who may not list parts', () => {
    let database: ClickHouse
    before(async () => {
      database = await clickHouse.beside(clickHouse.database)
    })
    after(() => database.close())

    it('are all rows, and parts are listed again only when the refusal expires', async () => {
      await insert('calls', [{ project: 'b', second: 1, id: 1, value: null }])
      const refused = watched(listsParts, refuse, database)
      assert.equal(await refused.rows(), ALL_MERGED)
      assert.equal(await refused.rows(), ALL_MERGED)
      assert.equal(refused.statements.length, 1)

      const granted = watched(() => false, undefined, database)
      assert.equal(await granted.rows(), ALL_MERGED)
      database.reader.knownParts.refusedUntil -= REFUSAL_MS
      assert.notEqual(await granted.rows(), ALL_MERGED)
    })

    it('are not merged in another database', async () => {
      await insert('calls', [{ project: 'b', second: 1, id: 1, value: null }])
      database.reader.knownParts.refusedUntil = 0
      await watched(listsParts, refuse, database).rows()
      assert.notEqual(await watched().rows(), ALL_MERGED)
    })
  })

  it('are all rows if parts are merged before their days are read', async () => {
    const row = { project: 'b', second: 1, id: 1, value: null } as const
    await insert('calls', [row])
    await insert('calls', [{ ...row, value: 2 }])
    const { rows } = watched(readsDays, async () => {
      await clickHouse.writer.command('SYSTEM START MERGES calls')
      await clickHouse.writer.command('OPTIMIZE TABLE calls FINAL')
      await clickHouse.writer.command('SYSTEM STOP MERGES calls')
    })
    assert.equal(await rows(), ALL_MERGED)
    assert.notEqual(await watched().rows(), ALL_MERGED)
  })

  it('are read again when tables are exchanged meanwhile', async () => {
    const row = { project: 'b', second: 1, id: 1, value: null } as const
    await insert('calls', [row])
    await insert('other_calls', [row])
    await insert('other_calls', [{ ...row, value: 2 }])
    let times = 0
    const rows = await read(async () => {
      times += 1
      if (times === 1) await clickHouse.writer.command('EXCHANGE TABLES calls AND other_calls')
    })
    assert.deepEqual(rows, await withFinal())
    assert.equal(times, 2)
  })
})
