import assert from 'node:assert/strict'
import fc from 'fast-check'
import { calendarStarts, CALENDAR_UNITS } from '../../../src/domain/usage/calendar.js'
import { offsetsOf } from '../../../src/domain/usage/zone.js'
import { unitStarts } from '../../../web/usage/calendar.js'

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland']
const HOUR_MS = 3_600_000

describe('the buckets of the usage explorer', () => {
  it('are those of /usage/query, in any zone and over changes of clocks', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.constantFrom(...CALENDAR_UNITS),
        fc.integer({ min: 0, max: 20_000 }),
        fc.integer({ min: 1, max: 2_000 }),
        (zone, unit, firstHour, hours) => {
          const from = Date.parse('2025-01-01T00:10:00Z') + firstHour * HOUR_MS
          const to = from + hours * HOUR_MS
          const [start, end] = [from, to].map((at) => new Date(at).toISOString()) as [string, string]
          assert.deepEqual(
            unitStarts(start, end, unit, zone),
            calendarStarts(from / 1000, to / 1000, unit, offsetsOf(zone)!),
          )
        },
      ),
      { numRuns: 60 },
    )
  })
})
