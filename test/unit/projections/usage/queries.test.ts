import assert from 'node:assert/strict'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { NO_FILTER } from '../../../../src/projections/calls/filter.js'
import { AnswerTooLarge } from '../../../../src/projections/usage/inclusive-usage.js'
import { saturated } from '../../../../src/projections/usage/own-usage.js'
import { TraceTooLarge } from '../../../../src/projections/usage/trace.js'
import { usageFrom } from '../../../../src/projections/usage/queries.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { fillTrace, type TraceShape } from '../../../support/whole-traces.js'

const PROJECT = 'default/usage'

describe('usage of large traces', function () {
  this.timeout(120_000)
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const given = (trace: string, calls: number, shape: TraceShape) =>
    fillTrace(clickHouse.writer, PROJECT, trace, calls, shape)

  const ask = async (filter: object, { limit = 10_000, maxTraceCalls = 1_000_000 } = {}) => {
    const question = { projectId: PROJECT, operation: null, position: 1n, limit, maxTraceCalls }
    const asked = { ...question, filter: { ...NO_FILTER, ...filter } }
    const { calls } = await usageFrom()(clickHouse.reader, asked)
    return calls.map(({ id, usage }) => ({ id, models: usage.size, counters: [...usage.values()][0] ?? [] }))
  }

  it('sums a chain 20,000 calls deep', async () => {
    await given('deep', 20_000, { parent: 'previous', models: 'one' })
    const [root] = await ask({ call_ids: ['deep-00000000'] })
    assert.equal(root!.counters[0], 20_000)
    const all = await ask({ trace_ids: ['deep'] }, { limit: 1_000_000 })
    assert.deepEqual(
      all.map(({ counters }) => counters[0]).sort((a, b) => a! - b!),
      Array.from({ length: 20_000 }, (_, n) => n + 1),
    )
  })

  it('gives every call of a cycle the sum of the cycle', async () => {
    await given('cycle', 1000, { parent: 'cycle', models: 'one' })
    const all = await ask({ trace_ids: ['cycle'] })
    assert.equal(all.length, 1000)
    assert.ok(all.every(({ counters }) => counters[0] === 1000))
  })

  it('sums a chain in which each call has its own model, and refuses to answer every call of it', async () => {
    await given('models', 4000, { parent: 'previous', models: 'each' })
    const [root] = await ask({ call_ids: ['models-00000000'] })
    assert.equal(root!.models, 4000)
    await assert.rejects(ask({ trace_ids: ['models'] }), AnswerTooLarge)
  })

  it('refuses to answer every call of a cycle in which each call has its own model', async () => {
    await given('model-cycle', 2000, { parent: 'cycle', models: 'each' })
    assert.equal((await ask({ call_ids: ['model-cycle-00000000'] }))[0]!.models, 2000)
    await assert.rejects(ask({ trace_ids: ['model-cycle'] }), AnswerTooLarge)
  })

  it('applies the limit of calls to each trace, also when several are loaded together', async () => {
    await given('limit-a', 20, { parent: 'first', models: 'one' })
    await given('limit-b', 10, { parent: 'first', models: 'one' })
    const both = { trace_ids: ['limit-a', 'limit-b'] }
    assert.equal((await ask(both, { maxTraceCalls: 20 })).length, 30)
    await assert.rejects(ask(both, { maxTraceCalls: 19 }), TraceTooLarge)
    await assert.rejects(ask({ ...both, op_names: ['op'] }, { maxTraceCalls: 19 }), TraceTooLarge)
    await assert.rejects(ask({ trace_ids: ['limit-a'] }, { maxTraceCalls: 19 }), TraceTooLarge)
  })

  it('shows sums beyond 2^53 as 2^53', () => {
    assert.deepEqual([2 ** 54, -(2 ** 54), 2 ** 53, 7].map(saturated), [2 ** 53, -(2 ** 53), 2 ** 53, 7])
  })
})
