import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { openSqliteAttemptRecords } from '../../../../src/adapters/attempt-records/sqlite-attempt-records.js'
import { attemptRecordWriter } from '../../../../src/dispatch/webhooks/attempt-records.js'
import type { AttemptRecord, AttemptRecords } from '../../../../src/kernel/ports/attempt-records.js'

const DAY_MS = 24 * 3600 * 1000
const NOW = 1_800_000_000_000
const attempt = (n: number, endedAt = NOW): AttemptRecord => ({
  deliveryId: 'dlv_a',
  attempt: n,
  endedAt,
  body: '{}',
  status: 200,
  responseHeaders: {},
  responseBody: 'ok',
})

const turn = () => new Promise((resolve) => setImmediate(resolve))
const tick = async (ms: number) => {
  mock.timers.tick(ms)
  await turn()
}

describe('what attempts looked like', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  const opened = (records: AttemptRecords = openSqliteAttemptRecords(':memory:')) => {
    const logged: string[] = []
    const keeping = attemptRecordWriter(records, { error: (message) => logged.push(message) })
    const ended = [1, 100].map((n) => ({ attempt: n, endedAt: NOW }))
    const kept = async () => (await records.of('dlv_a', ended)).map((one) => one.attempt)
    const keep = (from: number, to: number) => {
      for (let n = from; n <= to; n += 1) keeping.keep(attempt(n))
    }
    return { keeping, keep, kept, logged }
  }

  it('is written within a tenth of a second', async () => {
    const { keep, kept } = opened()
    keep(1, 3)
    await tick(50)
    keep(4, 5)
    assert.deepEqual(await kept(), [])
    await tick(50)
    assert.deepEqual(await kept(), [1, 2, 3, 4, 5])
    keep(6, 6)
    await tick(100)
    assert.equal((await kept()).length, 6)
  })

  it('is written when nothing more is to come', async () => {
    const inner = openSqliteAttemptRecords(':memory:')
    const { keeping, keep, kept } = opened({ ...inner, close: () => undefined })
    keep(1, 3)
    await keeping.close()
    assert.deepEqual(await kept(), [1, 2, 3])
  })

  it('is deleted after 90 days', async () => {
    const { keeping, kept } = opened()
    keeping.keep(attempt(1, NOW - 90 * DAY_MS - 1))
    keeping.keep(attempt(2, NOW - 90 * DAY_MS))
    await tick(100)
    keeping.prune(NOW)
    await turn()
    assert.deepEqual(await kept(), [2])
  })

  it('is let go, and said to be, where it cannot be written', async () => {
    const inner = openSqliteAttemptRecords(':memory:')
    let isFull = true
    const put = (records: readonly AttemptRecord[]) => {
      if (isFull) throw new Error('the disk is full')
      return inner.put(records)
    }
    const { keep, kept, logged } = opened({ ...inner, put })
    keep(1, 2)
    await tick(100)
    assert.deepEqual(logged, ['dispatcher.attempt_record_failed'])
    isFull = false
    keep(3, 4)
    await tick(100)
    assert.deepEqual(await kept(), [3, 4])
  })
})
