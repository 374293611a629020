import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ClickHouse } from '../../../src/kernel/ports/clickhouse.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { migrate } from '../../../src/projections/migrate.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'
import { tablesProjection } from '../../../src/projections/tables/project.js'
import {
  rowValues,
  rowValuesByIndex,
  tableOrder,
  tableStats,
  type TableQuery,
} from '../../../src/projections/tables/queries.js'
import { openTestClickHouse } from '../../support/engine.js'

const digestOf = (name: string): string => name.padEnd(43, 'x')

const stored = (
  project_id: string,
  position: number,
  rows: Readonly<Record<string, JsonObject>>,
): ProjectedEvent => ({
  type: 'TableRowsStored',
  data: {
    project_id,
    digest: digestOf('any'),
    pack: digestOf(`pack${position}`),
    rows: Object.entries(rows).map(([name, val]) => ({ digest: digestOf(name), val })),
    spilled: {},
  },
  position: BigInt(position),
})

const published = (
  project_id: string,
  position: number,
  table: string,
  rows: readonly string[],
): ProjectedEvent => ({
  type: 'TablePublished',
  data: {
    project_id,
    digest: digestOf(table),
    row_count: rows.length,
    row_digests: rows.map(digestOf),
    created_at: '2026-01-01T00:00:00.000000Z',
    wb_user_id: null,
    spilled: {},
  },
  position: BigInt(position),
})

describe('the tables of the projection', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const project = async (events: readonly ProjectedEvent[]) => {
    for (const rows of tablesProjection.rowsOf(events)) await clickHouse.writer.insert(rows)
  }

  const orderOf = async (question: Partial<TableQuery> & Pick<TableQuery, 'projectId' | 'tableDigest'>) => {
    const asked = { rowDigests: null, sortBy: [], limit: null, offset: 0, ...question }
    const order = await tableOrder(clickHouse.reader)(asked)
    return order.map(({ index, digest }) => [index, digest])
  }

  it('answer the same after a replay, whole or in part', async () => {
    const id = `${randomUUID()}/project`
    const events = [
      stored(id, 1, { a: { n: 1 }, b: { n: 2 } }),
      published(id, 2, 'T', ['a', 'b', 'a']),
      stored(id, 3, { a: { n: 1 }, c: { n: 3 } }),
      published(id, 4, 'U', ['c', 'a']),
    ]
    const answers = async () => ({
      T: await orderOf({ projectId: id, tableDigest: digestOf('T') }),
      U: await orderOf({ projectId: id, tableDigest: digestOf('U'), limit: 1, offset: 1 }),
      stats: [...(await tableStats(clickHouse.reader)(id, [digestOf('T')], 2n))],
      none: await tableStats(clickHouse.reader)(id, [digestOf('T')], 1n),
    })
    await project(events)
    const first = await answers()
    assert.deepEqual(first, {
      T: [
        [0, digestOf('a')],
        [1, digestOf('b')],
        [2, digestOf('a')],
      ],
      U: [[1, digestOf('a')]],
      stats: [{ digest: digestOf('T'), row_count: 3 }],
      none: [],
    })
    for (const again of [events, events.slice(1, 3), events.slice(2)]) await project(again)
    assert.deepEqual(await answers(), first)
    for (const table of ['table_rows', 'table_entries', 'tables'])
      await clickHouse.writer.command(`OPTIMIZE TABLE ${table} FINAL`)
    assert.deepEqual(await answers(), first)
  })

  it('give any stretch of a long table', async () => {
    const projectId = `${randomUUID()}/project`
    const names = Array.from({ length: 10_000 }, (_, i) => `r${i}`)
    await project([
      stored(projectId, 1, Object.fromEntries(names.map((name, n) => [name, { n }]))),
      published(projectId, 2, 'T', names),
    ])
    for (const [offset, limit] of [
      [0, 1],
      [4095, 2],
      [4096, 4096],
      [8191, 9],
      [9999, 5],
      [10_000, 5],
      [0, 0],
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ] as const)
      assert.deepEqual(
        await orderOf({ projectId, tableDigest: digestOf('T'), offset, limit }),
        names.slice(offset, offset + limit).map((name, i) => [offset + i, digestOf(name)]),
      )
    assert.equal((await orderOf({ projectId, tableDigest: digestOf('T'), offset: 17 })).length, 9983)
  })

  it('tell what rows hold by digest and by index, many at once, as of a position', async () => {
    const id = `${randomUUID()}/project`
    await project([
      stored(id, 1, { a: { n: 1 }, b: { n: 2 } }),
      published(id, 2, 'T', ['a', 'b', 'a']),
      published(id, 3, 'U', ['b']),
      stored(id, 4, { c: { n: 3 } }),
    ])
    const [T, U, none] = ['T', 'U', 'none'].map(digestOf) as [string, string, string]
    const byDigest = [
      [T, digestOf('a')],
      [U, digestOf('a')],
      [U, digestOf('b')],
      [none, digestOf('a')],
      [T, digestOf('c')],
      [T, 'no/digest'],
      ['', ''],
      [T, digestOf('a')],
    ].map(([tableDigest, rowDigest]) => ({ tableDigest: tableDigest!, rowDigest: rowDigest! }))
    const { reader } = clickHouse
    const [ONE, TWO] = ['{"n":1}', '{"n":2}']
    const no = undefined
    assert.deepEqual(await rowValues(reader)(id, byDigest, 4n), [ONE, no, TWO, no, no, no, no, ONE])
    assert.deepEqual(await rowValues(reader)(id, byDigest, 2n), [ONE, no, no, no, no, no, no, ONE])
    assert.deepEqual(
      await rowValues(reader)(`${id}2`, byDigest, 4n),
      byDigest.map(() => no),
    )
    assert.deepEqual(await rowValues(reader)(id, [], 4n), [])
    const byIndex = [
      [T, 2],
      [T, 1],
      [T, 3],
      [T, -1],
      [U, 0],
      [none, 0],
      [T, 0.5],
    ].map(([tableDigest, index]) => ({ tableDigest: tableDigest as string, index: index as number }))
    assert.deepEqual(await rowValuesByIndex(reader)(id, byIndex, 4n), [ONE, TWO, no, no, TWO, no, no])
    const many = Array.from({ length: 12_000 }, (_, i) => ({ tableDigest: T, index: i % 4 }))
    const values = await rowValuesByIndex(reader)(id, many, 4n)
    assert.deepEqual(values.slice(-4), [ONE, TWO, ONE, no])
  })
})
