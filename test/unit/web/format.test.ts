import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  clockTime,
  cost,
  duration,
  exactCost,
  instantAt,
  opName,
  shortNumber,
  shownTime,
  wallTime,
  wholeNumber,
} from '../../../web/kit/format.js'

const plain = (text: string) => text.replaceAll('\u2009', ' ')

describe('displayed figures', () => {
  it('have their digits in groups', () => {
    assert.deepEqual([0, 999, 1000, 12_625_000, -1234].map(wholeNumber).map(plain), [
      ...['0', '999', '1 000', '12 625 000', '−1 234'],
    ])
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        (value) => Number(plain(wholeNumber(value)).replaceAll(' ', '')) === value,
      ),
    )
  })

  it('are shortened where there is no room', () => {
    assert.deepEqual([950, 1200, 12_625_000, 2e9].map(shortNumber).map(plain), [
      '950',
      '1.2 k',
      '12.6 M',
      '2 G',
    ])
  })

  it('show durations in the unit that people would use', () => {
    assert.deepEqual(
      [0, 999, 412_000, 999_400, 999_600, 3_140_000, 59_994_000, 59_996_000, 125_000_000, 11_520_000_000]
        .map(duration)
        .map(plain),
      [
        '0 µs',
        '999 µs',
        '412 ms',
        '999 ms',
        '1.00 s',
        '3.14 s',
        '59.99 s',
        '1 min 00 s',
        '2 min 05 s',
        '3 h 12 min',
      ],
    )
  })

  it('show costs with three significant digits and never as less than a cent', () => {
    assert.deepEqual(
      [0, 1e-12, 0.00000914, 0.00099, 0.0204, 1.5, 12.345, 999.4, 12_345.6].map((one) => plain(cost(one))),
      ['$0', '$0.00000000000100', '$0.00000914', '$0.000990', '$0.0204', '$1.50', '$12.3', '$999', '$12 346'],
    )
    assert.equal(plain(cost(0, true)), 'no price')
    assert.equal(plain(cost(0.5, true)), '≥ $0.500')
    assert.equal(exactCost(1e-9), '0.000000001')
  })

  it('show a cost above 0 as more than 0, at any size', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-12, max: 1e9, noNaN: true }),
        (dollars) => /[1-9]/.test(cost(dollars)) && Number(exactCost(dollars)) > 0,
      ),
    )
  })

  it('show times in the chosen zone, relative within a day', () => {
    const now = Date.parse('2026-11-26T12:00:00Z')
    assert.equal(clockTime(now, 'UTC', now), 'Nov 26 12:00:00')
    assert.equal(clockTime(now, 'Asia/Tokyo', now), 'Nov 26 21:00:00')
    assert.equal(clockTime(Date.parse('2025-01-02T03:04:05Z'), 'UTC', now), 'Jan 2 2025 03:04:05')
    assert.deepEqual(
      [1000, 90_000, 7_200_000].map((age) => plain(shownTime(now - age, 'UTC', now))),
      ['1 s ago', '1 min ago', '2 h ago'],
    )
    assert.equal(shownTime(now - 86_400_000, 'UTC', now), 'Nov 25 12:00:00')
  })

  it('take wall-clock times of a zone, also where clocks change', () => {
    assert.equal(
      new Date(instantAt('2026-11-25T23:04', 'Asia/Tokyo')).toISOString(),
      '2026-11-25T14:04:00.000Z',
    )
    assert.equal(
      new Date(instantAt('2026-07-01T00:00', 'Europe/Berlin')).toISOString(),
      '2026-06-30T22:00:00.000Z',
    )
    // The hour that the clocks of Berlin skip.
    assert.equal(
      wallTime(instantAt('2026-03-29T02:30', 'Europe/Berlin'), 'Europe/Berlin'),
      '2026-03-29T03:30:00',
    )
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kathmandu',
      'Pacific/Apia',
    )
    const seconds = fc.integer({ min: 0, max: 2_000_000_000 })
    fc.assert(
      fc.property(seconds, zones, (second, zone) => {
        const wall = wallTime(second * 1000, zone)
        // A repeated hour has two instants of one wall-clock time.
        assert.equal(wallTime(instantAt(wall, zone), zone), wall)
      }),
    )
  })

  it('show the name of an op without its reference', () => {
    assert.equal(opName('weave:///acme/support/op/answer:abc'), 'answer')
    assert.equal(opName('weave:///acme/support/op/answer:*'), 'answer')
    assert.equal(opName('openai.chat.completions.create'), 'openai.chat.completions.create')
  })
})
