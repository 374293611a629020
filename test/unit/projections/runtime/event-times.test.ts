import assert from 'node:assert/strict'
import fc from 'fast-check'
import { instantOf } from '../../../../src/kernel/codec/instant.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { eventTimes, positionByTime } from '../../../../src/projections/runtime/event-times.js'
import { openTestClickHouse } from '../../../support/engine.js'

describe('the times of events', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const START = Date.parse('2026-11-28T12:00:00Z')
  /** Batches of milliseconds since the start, each perhaps followed by a checkpoint. Clocks may go back. */
  const arbitraryBatches = fc.array(
    fc.record({ times: fc.array(fc.nat(6), { minLength: 1, maxLength: 4 }), isNoted: fc.boolean() }),
    { maxLength: 6 },
  )

  it('tell the last event recorded no later than a time, before and after their rows are inserted', async () => {
    const law = fc.asyncProperty(arbitraryBatches, fc.nat(7), async (batches, asked) => {
      await clickHouse.writer.command('TRUNCATE TABLE event_times')
      const times = eventTimes()
      const all: { position: bigint; recordedAt: Date }[] = []
      for (const { times: recorded, isNoted } of batches) {
        const batch = recorded.map((at, n) => ({
          position: BigInt(all.length + n + 1),
          recordedAt: new Date(START + at),
        }))
        all.push(...batch)
        for (const event of batch) times.add(event)
        // A subscription that was replaced may repeat events.
        for (const event of batch) times.add(event)
        if (isNoted) await times.insert(clickHouse.writer)
      }
      const time = new Date(START + asked)
      const last = all.findLast(({ recordedAt }) => recordedAt <= time)?.position ?? 0n
      const told = times.lastBy(instantOf(time)) ?? (await positionByTime(clickHouse.reader)(instantOf(time)))
      assert.equal(told, last)
    })
    await fc.assert(law, { numRuns: 30 })
  })
})
