import assert from 'node:assert/strict'
import {
  ReadTooExpensive,
  TooManyReads,
  type ClickHouse,
  type ClickHouseReader,
} from '../../../src/kernel/ports/clickhouse.js'
import { openTestClickHouse } from '../../support/engine.js'
import { startTestService } from '../../support/service.js'

const PROJECT = 'readers/project'

/** Longer than a slow machine needs for the rest. */
const SCAN_SECONDS = 15

/** A statement that takes its reader for some seconds, with a parameter like any read of the service. */
const slowScan = (reader: ClickHouseReader, seconds: number) => {
  const sql = `SELECT count() AS rows FROM numbers({seconds:UInt64})
    WHERE sleepEachRow(1) = 0 AND {text:String} != '' SETTINGS max_block_size = 1`
  const scan = { isOver: false, rows: reader.query<{ rows: number }>(sql, { seconds, text: 'scan' }) }
  void scan.rows.then(
    () => (scan.isOver = true),
    () => (scan.isOver = true),
  )
  return scan
}

const callOf = (id: string) => ({
  start: {
    project_id: PROJECT,
    id,
    op_name: 'op',
    started_at: '2026-01-01T00:00:00Z',
    attributes: {},
    inputs: { of: id },
  },
  end: {
    project_id: PROJECT,
    id,
    ended_at: '2026-01-01T00:00:01Z',
    output: null,
    summary: { usage: { model: { requests: 1 } } },
  },
})

describe('a slow read', () => {
  it('delays neither the writing of rows nor other reads', async () => {
    const service = await startTestService()
    try {
      const { start, end } = callOf('call')
      const scan = slowScan(service.stores.clickHouse.reader, SCAN_SECONDS)
      const another = slowScan(service.stores.clickHouse.reader, SCAN_SECONDS)

      await service.post('/call/start', { start })
      await service.post('/call/end', { end })
      const read = await service.post('/call/read', { project_id: PROJECT, id: 'call' })
      const usage = await service.in(PROJECT).usage.ofTraces()

      assert.deepEqual([scan.isOver, another.isOver], [false, false], 'something waited for the scan')
      assert.equal(read.json<{ call: { ended_at: string } }>().call.ended_at, '2026-01-01T00:00:01.000000Z')
      assert.deepEqual(Object.keys(usage.json()['call_usage'] as object), ['call'])
      assert.deepEqual(await scan.rows, [{ rows: SCAN_SECONDS }])
      assert.deepEqual(await another.rows, [{ rows: SCAN_SECONDS }])
    } finally {
      await service.stop()
    }
  })
})

describe('the readers of the embedded engine', () => {
  let clickHouse: ClickHouse
  let reader: ClickHouseReader
  before(async () => {
    clickHouse = await openTestClickHouse()
    reader = clickHouse.reader
  })
  after(() => clickHouse.close())

  const ENDLESS = 'SELECT number FROM numbers(1000000000000) WHERE number != {not:UInt64}'

  const bytesOf = async (sql: string, parameters = {}): Promise<number> => {
    let bytes = 0
    for await (const chunk of reader.stream(sql, parameters)) bytes += chunk.length
    return bytes
  }

  const assertAllWork = async (): Promise<void> => {
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((x) => reader.query<{ x: string }>('SELECT {x:String} AS x', { x })),
    )
    assert.equal(answers.map(([row]) => row?.x).join(''), 'abcdef')
    const streams = await Promise.all([1, 2, 3, 4].map((x) => bytesOf('SELECT {x:UInt64} AS x', { x })))
    assert.ok(streams.every((bytes) => bytes > 0))
  }

  it('are free again after streams that were left half-way', async () => {
    for (let i = 0; i < 20; i += 1)
      for await (const chunk of reader.stream(ENDLESS, { not: i })) {
        assert.ok(chunk.length > 0)
        break
      }
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        for await (const chunk of reader.stream(ENDLESS, { not: i })) if (chunk.length > 0) break
      }),
    )
    await assertAllWork()
  })

  it('are free again after streams whose consumer failed', async () => {
    for (let i = 0; i < 5; i += 1)
      await assert.rejects(async () => {
        for await (const chunk of reader.stream(ENDLESS, { not: i }))
          throw new Error(`no use for ${chunk[0]}`)
      }, /no use/)
    await assertAllWork()
  })

  it('take no more reads than can wait, and serve all that they took', async () => {
    const scans = [1, 2, 3].map(() => slowScan(reader, 1))
    const reads = Array.from({ length: 400 }, (_, x) =>
      reader.query<{ x: number }>('SELECT {x:UInt64} AS x', { x }),
    )

    const outcomes = await Promise.allSettled(reads)

    const taken = outcomes.filter(({ status }) => status === 'fulfilled').length
    assert.ok(taken >= 200 && taken < 400, `${taken} of 400 were taken`)
    outcomes.forEach((outcome, x) => {
      if (outcome.status === 'fulfilled') assert.deepEqual(outcome.value, [{ x }])
      else assert.ok(outcome.reason instanceof TooManyReads)
    })
    await Promise.all(scans.map(({ rows }) => rows))
    await assertAllWork()
  })

  const TOO_LONG = `SELECT number FROM numbers(1000000000000) WHERE sipHash64(number) = {hash:UInt64}
    SETTINGS max_execution_time = 1`
  const TOO_LARGE = `SELECT length(groupArray(number + {more:UInt64})) AS n FROM numbers(100000000)
    SETTINGS max_memory_usage = 20000000`

  it('give up a read that goes over its limit of time, and say which', async () => {
    const tooLong = (error: unknown) => error instanceof ReadTooExpensive && error.limit === 'time'
    await assert.rejects(reader.query(TOO_LONG, { hash: 1 }), tooLong)
    await assert.rejects(bytesOf(TOO_LONG, { hash: 1 }), tooLong)
    await assertAllWork()
  })

  it('give up a read that goes over its limit of memory, and say which', async () => {
    const tooLarge = (error: unknown) => error instanceof ReadTooExpensive && error.limit === 'memory'
    await assert.rejects(reader.query(TOO_LARGE, { more: 1 }), tooLarge)
    await assert.rejects(bytesOf(TOO_LARGE, { more: 1 }), tooLarge)
    await assertAllWork()
  })

  it('each have a limit of time and memory', async () => {
    const asked = Array.from({ length: 12 }, () =>
      reader.query<{ time: number; memory: number }>(
        "SELECT getSetting('max_execution_time') AS time, getSetting('max_memory_usage') AS memory",
      ),
    )
    for (const [row] of await Promise.all(asked)) assert.ok(row!.time > 0 && row!.memory > 0)
  })
})
