import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { ClickHouse } from '../../../../src/domain/ports/clickhouse.js'
import { usageJson } from '../../../../src/api/tracing/usage-json.js'
import { NO_FILTER } from '../../../../src/projections/calls/queries.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { AnswerTooLarge, usageFrom } from '../../../../src/projections/usage/queries.js'
import { openTestClickHouse } from '../../../support/engine.js'

const PROJECT = 'default/event-loop'
/** How long a request of another tenant may be delayed. */
const MOST_DELAY_MS = 250

/** Milliseconds that the main thread has run for: on Linux without those in which other processes had its core. */
const mainThreadMs = (): number => {
  if (process.platform !== 'linux') return performance.now()
  const fields = readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

describe('a question about usage lets other requests have their turn', function () {
  this.timeout(120_000)
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  /** Calls whose parent is the call before, or the first one; without an end where they have no model. */
  const given = async (
    trace: string,
    calls: number,
    { parent, model, figure = '1' }: { parent: string; model: string | null; figure?: string },
  ) => {
    const at = `toDateTime64('2026-01-01 00:00:00', 6, 'UTC')`
    const id = (number: string) => `concat('${trace}-', leftPad(toString(${number}), 8, '0'))`
    const parentId = `if(number = 0, '', ${id(parent)})`
    const ended = model === null ? '0' : '1'
    await clickHouse.writer.command(`INSERT INTO usage_facts
      SELECT '${PROJECT}', '${trace}', ${id('number')}, 1, 1, ${ended}, 0, ${parentId}, ${at}, ${at}, '', NULL,
        ${model === null ? '[]' : `[${model}]`}, ${model === null ? '[]' : `[1, ${figure}, 0, 5, 0, 0, 0, 0]`}
      FROM numbers(${calls})`)
    await clickHouse.writer.command(`INSERT INTO calls
      (project_id, trace_id, id, parent_id, op_name, started_at, started_position)
      SELECT '${PROJECT}', '${trace}', ${id('number')}, nullIf(${parentId}, ''), 'op', ${at}, 1 FROM numbers(${calls})`)
    await clickHouse.writer.command(
      `INSERT INTO call_index SELECT project_id, id, assumeNotNull(trace_id), started_at, 1 FROM calls WHERE trace_id = '${trace}'`,
    )
  }

  /** The longest work between two turns of the event loop while the answer was read, in milliseconds. */
  const longestDelay = async (trace: string, filter: object, limit: number) => {
    let last = mainThreadMs()
    let longest = 0
    const look = () => {
      const now = mainThreadMs()
      longest = Math.max(longest, now - last)
      last = now
    }
    const looking = setInterval(look, 5)
    let bytes = 0
    try {
      const { answered } = await usageFrom(clickHouse.reader)({
        projectId: PROJECT,
        filter: { ...NO_FILTER, ...filter },
        operation: null,
        position: 1n,
        limit,
        maxTraceCalls: 10_000_000,
      })
      for await (const chunk of usageJson(answered)) bytes += chunk.length
    } catch (error) {
      assert.ok(error instanceof AnswerTooLarge, String(error))
    } finally {
      look()
      clearInterval(looking)
    }
    return { longest, bytes }
  }

  const CHAIN = { parent: 'number - 1' }
  const FLAT = { parent: '0' }

  it('when each call of a chain names another model', async () => {
    for (const calls of [1800, 4500]) {
      const trace = `models-${calls}`
      await given(trace, calls, { ...CHAIN, model: `concat('model-', toString(number))` })
      const { longest, bytes } = await longestDelay(trace, { call_ids: [`${trace}-00000000`] }, 10)
      assert.ok(longest < MOST_DELAY_MS, `${calls} calls: ${longest} ms`)
      assert.equal(bytes > 0, calls === 1800)
    }
  })

  it('when the figures are too large for doubles', async () => {
    const model = `concat('model-', toString(number))`
    for (const calls of [1000, 4500]) {
      const trace = `large-${calls}`
      await given(trace, calls, { ...CHAIN, model, figure: '9007199254740992' })
      const { longest, bytes } = await longestDelay(trace, { call_ids: [`${trace}-00000000`] }, 10)
      assert.ok(longest < MOST_DELAY_MS, `${calls} calls: ${longest} ms`)
      assert.equal(bytes > 0, calls === 1000)
    }
  })

  it('when a trace has many calls', async () => {
    await given('many', 300_000, { ...FLAT, model: `'model'` })
    await given('unfinished', 300_000, { ...FLAT, model: null })
    for (const trace of ['many', 'unfinished'])
      for (const limit of [200_000, 1_000_000]) {
        const whole = await longestDelay(trace, { trace_ids: [trace] }, limit)
        assert.ok(whole.longest < MOST_DELAY_MS, `${trace}, whole, ${limit}: ${whole.longest} ms`)
        const matching = await longestDelay(trace, { trace_ids: [trace], op_names: ['op'] }, limit)
        assert.ok(matching.bytes > 0)
        assert.ok(matching.longest < MOST_DELAY_MS, `${trace}, filtered, ${limit}: ${matching.longest} ms`)
      }
  })
})
