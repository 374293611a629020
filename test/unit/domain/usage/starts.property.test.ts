import assert from 'node:assert/strict'
import fc from 'fast-check'
import { bucketStarts } from '../../../../src/domain/usage/starts.js'
import { offsetsOf } from '../../../../src/domain/usage/zone.js'
import { COUNTS } from '../../../counts.js'

const at = (text: string): number => Date.parse(text) / 1000
const told = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16)
const HOUR = 3600
const DAY = 24 * HOUR

const starts = (zone: string, from: string, to: string, seconds: number): readonly string[] =>
  bucketStarts(at(from), at(to), seconds, offsetsOf(zone)!).map(told)

describe('buckets of time', () => {
  it('are known by the names of zones alone', () => {
    for (const odd of ['', 'Nowhere/Else', 'America/New York', "'; DROP TABLE calls", '\u0000'])
      assert.equal(offsetsOf(odd), undefined, odd)
    assert.equal(offsetsOf('Asia/Kolkata')!(at('2026-01-01T00:00Z')), 5.5 * HOUR)
  })

  it('begin at or before the range, and not at its end', () =>
    assert.deepEqual(starts('UTC', '2026-01-01T00:30Z', '2026-01-01T03:00Z', HOUR), [
      '2026-01-01T00:00',
      '2026-01-01T01:00',
      '2026-01-01T02:00',
    ]))

  it('of a day are days by the clock, of 23 and 25 hours where clocks change', () => {
    assert.deepEqual(starts('America/New_York', '2026-03-07T05:00Z', '2026-03-10T04:00Z', DAY), [
      '2026-03-07T05:00',
      '2026-03-08T05:00',
      '2026-03-09T04:00',
    ])
    assert.deepEqual(starts('America/New_York', '2026-10-31T12:00Z', '2026-11-02T12:00Z', DAY), [
      '2026-10-31T04:00',
      '2026-11-01T04:00',
      '2026-11-02T05:00',
    ])
  })

  it('of an hour are two where an hour comes twice, and none where one is left out', () => {
    assert.equal(starts('Europe/Berlin', '2026-10-24T22:00Z', '2026-10-25T23:00Z', HOUR).length, 25)
    assert.equal(starts('Europe/Berlin', '2026-03-28T23:00Z', '2026-03-29T22:00Z', HOUR).length, 23)
  })

  it('of some hours begin where the clock shows them, also on the days of changes', () => {
    assert.deepEqual(starts('America/New_York', '2026-03-08T05:00Z', '2026-03-09T04:00Z', 6 * HOUR), [
      '2026-03-08T05:00',
      '2026-03-08T10:00',
      '2026-03-08T16:00',
      '2026-03-08T22:00',
    ])
    assert.deepEqual(starts('America/New_York', '2026-03-08T05:00Z', '2026-03-08T10:00Z', 2 * HOUR), [
      '2026-03-08T05:00',
      '2026-03-08T07:00',
      '2026-03-08T08:00',
    ])
  })

  it('follow the days of a zone whose clocks change at midnight, by half an hour, or by a day', () => {
    assert.deepEqual(starts('Asia/Beirut', '2026-03-28T00:00Z', '2026-03-30T00:00Z', DAY), [
      '2026-03-27T22:00',
      '2026-03-28T22:00',
      '2026-03-29T21:00',
    ])
    assert.equal(starts('Australia/Lord_Howe', '2026-04-04T13:00Z', '2026-04-05T13:30Z', 1800).length, 49)
    assert.deepEqual(starts('Pacific/Apia', '2011-12-29T10:00Z', '2011-12-31T10:00Z', DAY), [
      '2011-12-29T10:00',
      '2011-12-30T10:00',
    ])
  })

  const ZONES = [
    'UTC',
    'America/New_York',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Asia/Kolkata',
    'Asia/Beirut',
  ]
  const LENGTHS = [60, 420, 900, 1800, HOUR, 2 * HOUR, 5 * HOUR, 6 * HOUR, 12 * HOUR, DAY]

  it('change where the clock comes to another stretch of the day or to its beginning, minute by minute', () => {
    const law = fc.property(
      fc.constantFrom(...ZONES),
      fc.constantFrom(...LENGTHS),
      fc.constantFrom('2026-03-06', '2026-03-27', '2026-04-03', '2026-10-02', '2026-10-23', '2026-10-30'),
      fc.nat(5000),
      fc.integer({ min: 1, max: 2500 }),
      (zone, seconds, day, later, minutes) => {
        const offset = offsetsOf(zone)!
        const from = at(`${day}T00:00Z`) + later * 60
        const found = bucketStarts(from, from + minutes * 60, seconds, offset)
        const stretch = (time: number) => {
          const shown = time + offset(time)
          return [Math.floor(shown / DAY), Math.floor((shown % DAY) / seconds)].join()
        }
        const begins = (time: number) =>
          stretch(time) !== stretch(time - 60) || ((time + offset(time)) % DAY) % seconds === 0
        let first = from
        while (!begins(first)) first -= 60
        const expected = [first]
        for (let time = from + 60; time < from + minutes * 60; time += 60)
          if (begins(time)) expected.push(time)
        assert.deepEqual(found.map(told), expected.map(told))
      },
    )
    fc.assert(law, { numRuns: COUNTS.bucketZones })
  })
})
