import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { poolOf } from '../../../../src/adapters/clickhouse/pool.js'
import {
  ClickHouseUnavailable,
  TooManyReads,
  type ClickHouseReads,
} from '../../../../src/kernel/ports/clickhouse.js'

interface Running {
  readonly sql: string
  readonly answer: (rows: readonly unknown[]) => void
  readonly fail: (error: Error) => void
}

/** A reader that answers when told to, and takes it badly if it is asked two things at once. */
const slowReader = (running: Running[]): ClickHouseReads => {
  let isBusy = false
  const begin = () => {
    assert.ok(!isBusy, 'a reader runs one statement at a time')
    isBusy = true
  }
  return {
    query: <Row>(sql: string) => {
      begin()
      return new Promise<readonly Row[]>((resolve, reject) => {
        running.push({
          sql,
          answer: (rows) => {
            isBusy = false
            resolve(rows as readonly Row[])
          },
          fail: (error) => {
            isBusy = false
            reject(error)
          },
        })
      })
    },
    async *stream(sql) {
      begin()
      try {
        for (let chunk = 0; chunk < 3; chunk += 1) {
          if (sql === 'failing' && chunk === 1) throw new Error('failed')
          yield Uint8Array.of(chunk)
        }
      } finally {
        isBusy = false
      }
    },
  }
}

const givenPool = (readers: number, limit = readers) => {
  const running: Running[] = []
  const pool = poolOf(
    Array.from({ length: readers }, () => slowReader(running)),
    undefined,
    () => limit,
  )
  return { running, pool }
}

const MAX_WAITING = 256

const unavailable = new ClickHouseUnavailable('busy', 'ClickHouse failed: Error (107)')

describe('a pool of readers', () => {
  it('reports each read, also one whose reader stops after the first chunk', async () => {
    const reports: [string, unknown][] = []
    const running: Running[] = []
    const pool = poolOf([slowReader(running)], { report: (...report) => reports.push(report) })
    const failed = pool.query('failed')
    await setImmediate()
    running[0]!.fail(unavailable)
    await assert.rejects(failed, unavailable)
    assert.deepEqual(reports, [['reads', unavailable]])

    for await (const chunk of pool.stream('left')) if (chunk.length === 1) break
    assert.deepEqual(reports.slice(1), [['reads', null]])
    const read = pool.query('read')
    await setImmediate()
    running[1]!.answer([])
    await read
    assert.deepEqual(reports.slice(2), [['reads', null]])
  })

  it('runs as many reads at once as it has readers, and the others in the order in which they came', async () => {
    const { pool, running } = givenPool(2)
    const reads = ['a', 'b', 'c', 'd', 'e'].map((sql) => pool.query(sql))
    for (let i = 0; i < 5; i += 1) {
      await setImmediate()
      assert.equal(running.length, Math.min(i + 2, 5))
      running[i]!.answer([running[i]!.sql])
    }
    assert.deepEqual((await Promise.all(reads)).flat(), ['a', 'b', 'c', 'd', 'e'])
  })

  it('hands on a reader whose read failed', async () => {
    const { pool, running } = givenPool(1)
    const [first, second] = [pool.query('first'), pool.query('second')]
    await setImmediate()
    running[0]!.fail(new Error('broken'))
    await assert.rejects(first, /broken/)
    running[1]!.answer([])
    assert.deepEqual(await second, [])
  })

  it('lets a stream keep its reader until it ends, is left or fails', async () => {
    const { pool, running } = givenPool(1)
    const ends = async (sql: string, after: number) => {
      let chunks = 0
      for await (const chunk of pool.stream(sql)) if ((chunks += chunk.length) === after) break
    }
    const waiting: Promise<unknown>[] = [ends('whole', 99), ends('left', 1), pool.query('after streams')]
    const failing = assert.rejects(ends('failing', 99), /failed/)
    waiting.push(pool.query('last'))
    while (running.length < 1) await setImmediate()
    running[0]!.answer([])
    await failing
    while (running.length < 2) await setImmediate()
    running[1]!.answer([])
    await Promise.all(waiting)
  })

  it('runs at most 2 of 3 reads of a team at once, and the read of another team before the queue of the first', async () => {
    const { pool, running } = givenPool(3)
    const slow = ['a', 'b', 'c', 'd'].map((sql) => pool.query(sql, {}, { team: 'busy' }))
    await setImmediate()
    const other = pool.query('other', {}, { team: 'quiet' })
    await setImmediate()

    assert.deepEqual(
      running.map(({ sql }) => sql),
      ['a', 'b', 'other'],
    )
    running[2]!.answer([])
    await other
    await setImmediate()
    assert.equal(running.length, 3)
    running[0]!.answer([])
    await slow[0]
    await setImmediate()
    assert.equal(running[3]!.sql, 'c')
    for (const at of [1, 3]) running[at]!.answer([])
    await Promise.all([slow[1], slow[2]])
    await setImmediate()
    running[4]!.answer([])
    await slow[3]
  })

  it('hands a free reader to the team with the fewest running reads', async () => {
    const { pool, running } = givenPool(3)
    const reads = ['a', 'b', 'c'].map((sql) => pool.query(sql, {}, { team: 'busy' }))
    reads.push(pool.query('of the service'), pool.query('other', {}, { team: 'quiet' }))
    await setImmediate()
    running[0]!.answer([])
    await setImmediate()

    assert.deepEqual(
      running.map(({ sql }) => sql),
      ['a', 'b', 'of the service', 'other'],
    )
    for (const at of [1, 2, 3]) running[at]!.answer([])
    await setImmediate()
    running[4]!.answer([])
    await Promise.all(reads)
  })

  it('uses no more readers than its limit, of which a team gets its share', async () => {
    const { pool, running } = givenPool(8, 4)
    const reads = ['a', 'b', 'c'].map((sql) => pool.query(sql, {}, { team: 'busy' }))
    reads.push(...['d', 'e', 'f'].map((sql) => pool.query(sql)))
    const started: string[] = []
    for (let i = 0; i < reads.length; i += 1) {
      await setImmediate()
      started.push(running.map(({ sql }) => sql).join(''))
      running[i]!.answer([])
    }
    assert.deepEqual(started.slice(0, 3), ['abde', 'abdec', 'abdecf'])
    await Promise.all(reads)
  })

  it('takes a read of another team when the reads of one team have filled their share of the queue', async () => {
    const { pool, running } = givenPool(3)
    const reads: Promise<unknown>[] = []
    const refused: unknown[] = []
    for (let i = 0; i < MAX_WAITING + 3; i += 1)
      reads.push(pool.query(String(i), {}, { team: 'busy' }).catch((error: unknown) => refused.push(error)))
    await setImmediate()
    assert.ok(refused.length > 0 && refused.every((error) => error instanceof TooManyReads))

    const other = pool.query('other', {}, { team: 'quiet' })
    await setImmediate()
    assert.equal(running[2]?.sql, 'other')
    running[2].answer([])
    await other
    const left = reads.length - refused.length
    for (let i = 0; i < left + 1; i += 1) {
      while (running.length <= i) await setImmediate()
      running[i]!.answer([])
    }
    await Promise.all(reads)
  })

  it('frees the place of a team in the queue when its client leaves', async () => {
    const { pool, running } = givenPool(3)
    const leaving = new AbortController()
    const slow = ['a', 'b'].map((sql) => pool.query(sql, {}, { team: 'busy' }))
    const left = pool.query('left', {}, { team: 'busy', signal: leaving.signal })
    const next = pool.query('next', {}, { team: 'busy' })
    await setImmediate()
    leaving.abort()
    await assert.rejects(left, { name: 'ReadAbandoned' })
    running[0]!.answer([])
    await slow[0]
    await setImmediate()

    assert.deepEqual(
      running.map(({ sql }) => sql),
      ['a', 'b', 'next'],
    )
    for (const at of [1, 2]) running[at]!.answer([])
    await Promise.all([slow[1], next])
  })

  it('refuses a read when too many wait, and takes reads again afterwards', async () => {
    const { pool, running } = givenPool(3)
    const reads = Array.from({ length: 3 + MAX_WAITING }, (_, i) => pool.query(String(i)))

    await assert.rejects(pool.query('one more'), TooManyReads)
    await assert.rejects(pool.stream('one more')[Symbol.asyncIterator]().next(), TooManyReads)

    for (let i = 0; i < reads.length; i += 1) {
      while (running.length <= i) await setImmediate()
      running[i]!.answer([i])
    }
    assert.deepEqual((await Promise.all(reads)).flat(), [...reads.keys()])
    const next = pool.query('again')
    await setImmediate()
    running.at(-1)!.answer(['again'])
    assert.deepEqual(await next, ['again'])
  })

  it('refuses a request at its first statement or not at all', async () => {
    const { pool, running } = givenPool(3)
    const { signal } = new AbortController()
    const first = pool.query('first', {}, { signal, team: 'busy' })
    const others = Array.from({ length: 2 + MAX_WAITING }, (_, i) => pool.query(String(i)))
    const late = new AbortController()
    await assert.rejects(pool.query('late', {}, { signal: late.signal, team: 'busy' }), TooManyReads)
    running[0]!.answer([])
    await first
    others.push(pool.query('one more'))
    const later = pool.query('later', {}, { signal, team: 'busy' })
    running[1]!.answer([])
    await setImmediate()
    assert.equal(running.at(-1)!.sql, 'later')
    const total = others.length + 2
    for (let i = 2; i < total; i += 1) {
      while (running.length <= i) await setImmediate()
      running[i]!.answer([])
    }
    await Promise.all([later, ...others])
  })
})
