import assert from 'node:assert/strict'
import fc from 'fast-check'
import { decode } from '../../../../src/kernel/codec/codec.js'
import { instant, instantOf, microseconds, parseInstant } from '../../../../src/kernel/codec/instant.js'

const FIRST = Date.UTC(1900, 0, 1)
const END = Date.UTC(2300, 0, 1)

/** Microseconds since 1970 within the years 1900 to 2299. */
const micros = fc.bigInt({ min: BigInt(FIRST) * 1000n, max: BigInt(END) * 1000n - 1n })

const formatted = (us: bigint): string => {
  const whole = us >= 0n ? us / 1_000_000n : -((-us + 999_999n) / 1_000_000n)
  const fraction = us - whole * 1_000_000n
  const seconds = new Date(Number(whole) * 1000).toISOString().slice(0, 19)
  return `${seconds}.${String(fraction).padStart(6, '0')}Z`
}

const offset = fc
  .tuple(fc.constantFrom('+', '-'), fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([sign, hours, minutes]) => ({
    text: `${sign}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`,
    micros: BigInt((sign === '-' ? -1 : 1) * (hours * 60 + minutes)) * 60_000_000n,
  }))

describe('an instant', () => {
  const same: readonly (readonly [string, string])[] = [
    ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000000Z'],
    ['2026-01-31T09:30:00z', '2026-01-31T09:30:00.000000Z'],
    ['2026-01-31T09:30:00', '2026-01-31T09:30:00.000000Z'],
    ['2026-01-31 09:30:00', '2026-01-31T09:30:00.000000Z'],
    ['2026-01-31t09:30:00', '2026-01-31T09:30:00.000000Z'],
    ['2026-01-31_09:30', '2026-01-31T09:30:00.000000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000000Z'],
    ['2026-01-31T09:30:00+02:00', '2026-01-31T07:30:00.000000Z'],
    ['2026-01-31T09:30:00-0530', '2026-01-31T15:00:00.000000Z'],
    ['2026-01-31T09:30:00+05', '2026-01-31T04:30:00.000000Z'],
    ['2026-01-31T09:30:00-00:00', '2026-01-31T09:30:00.000000Z'],
    ['2026-01-31T09:30:00 +01:00', '2026-01-31T08:30:00.000000Z'],
    ['2026-01-31T00:30:00+01:00', '2026-01-30T23:30:00.000000Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000000Z'],
    ['2026-01-31T09:30:00.1Z', '2026-01-31T09:30:00.100000Z'],
    ['2026-01-31T09:30:00,12Z', '2026-01-31T09:30:00.120000Z'],
    ['2026-01-31T09:30:00.123456Z', '2026-01-31T09:30:00.123456Z'],
    ['2026-01-31T09:30:00.1234567Z', '2026-01-31T09:30:00.123456Z'],
    ['2026-01-31T09:30:00.999999999Z', '2026-01-31T09:30:00.999999Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000000Z'],
    ['1900-01-01T00:00:00Z', '1900-01-01T00:00:00.000000Z'],
    ['1899-12-31T23:30:00-01:00', '1900-01-01T00:30:00.000000Z'],
    ['2299-12-31T23:59:59.999999Z', '2299-12-31T23:59:59.999999Z'],
    ['2300-01-01T00:30:00+01:00', '2299-12-31T23:30:00.000000Z'],
  ]
  for (const [text, canonical] of same) it(`reads ${text}`, () => assert.equal(parseInstant(text), canonical))

  const none = [
    '',
    ' ',
    'now',
    'yesterday',
    '2026',
    '2026-01',
    '2026-1-1',
    '26-01-31',
    '2026/01/31',
    '20260131',
    '2026-00-10',
    '2026-13-01',
    '2026-01-00',
    '2026-01-32',
    '2026-04-31',
    '2025-02-29',
    '1900-02-29',
    '2100-02-29',
    '2200-02-29',
    '2026-01-31T24:00:00Z',
    '2026-01-31T25:00:00Z',
    '2026-01-31T09:60:00Z',
    '2026-01-31T09:30:60Z',
    '2026-01-31T09Z',
    '2026-01-31T09:30:00.Z',
    '2026-01-31T09:30:00.1234567890Z',
    '2026-01-31T09:30:00+24:00',
    '2026-01-31T09:30:00+01:60',
    '2026-01-31T09:30:00+1',
    '2026-01-31Z',
    '2026-01-31T09:30:00ZZ',
    '2026-01-31T09:30:00Z ',
    ' 2026-01-31T09:30:00Z',
    '2026-01-31T09:30:00Z\n',
    '1899-12-31T23:59:59.999999Z',
    '1900-01-01T00:30:00+01:00',
    '2300-01-01T00:00:00Z',
    '0000-01-01',
    '0026-01-01T00:00:00Z',
    '0099-12-31',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '1000-01-01',
    '2299-12-31T23:30:00-01:00',
    '0000-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59-23:59',
    '+002026-01-31T00:00:00Z',
    '-2026-01-31',
    '1700000000',
    '1700000000.5',
    'Infinity',
    'NaN',
    '12026-01-01',
    '２０２６-01-31',
    '2026-01-31T09:30:00\u00a0\u00a0Z',
    '2026-01-31\u000009:30:00',
    `2026-01-31${'0'.repeat(1e6)}`,
  ]
  for (const text of none)
    it(`does not read ${JSON.stringify(text.slice(0, 40))}`, () =>
      assert.equal(parseInstant(text), undefined))

  for (const value of [0, 1.7e9, 1700000000000, -1, null, true, {}, [], ['2026-01-31'], undefined])
    it(`is never ${JSON.stringify(value)}`, () => {
      const decoded = decode(instant)(value)
      assert.ok(decoded._tag === 'Left' && decoded.left[0]?.type === 'datetime_type')
    })

  it('comes back from its text with every microsecond', () => {
    fc.assert(
      fc.property(micros, (us) => {
        const text = formatted(us)
        const parsed = parseInstant(text)
        assert.equal(parsed, text)
        assert.equal(microseconds(parsed), us)
      }),
    )
  })

  it('is one string however it is written', () => {
    fc.assert(
      fc.property(
        micros,
        offset,
        fc.constantFrom('T', ' ', 't'),
        (us, { text, micros: shift }, separator) => {
          const wall = formatted(us + shift)
          fc.pre(wall.startsWith('1') || wall.startsWith('2'))
          const written = `${wall.slice(0, 10)}${separator}${wall.slice(11, 26)}${text}`
          assert.equal(parseInstant(written), formatted(us))
        },
      ),
    )
  })

  it('is ordered as its text', () => {
    fc.assert(
      fc.property(micros, micros, (a, b) => {
        const [x, y] = [parseInstant(formatted(a))!, parseInstant(formatted(b))!]
        assert.equal(x === y, a === b)
        assert.equal(x < y, a < b)
      }),
    )
  })

  it('is recognised in its own form only', () => {
    assert.ok(instant.is('2026-01-31T09:30:00.000000Z'))
    for (const other of [
      '2026-01-31T09:30:00Z',
      '2026-02-30T00:00:00.000000Z',
      '0026-01-31T00:00:00.000000Z',
      1,
    ])
      assert.equal(instant.is(other), false)
  })

  it('is what a Date says, to the millisecond', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(FIRST), max: new Date(END - 1), noInvalidDate: true }), (date) => {
        assert.equal(parseInstant(date.toISOString()), instantOf(date))
        assert.equal(microseconds(instantOf(date)), BigInt(date.getTime()) * 1000n)
      }),
    )
  })

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const parsed = parseInstant(text)
        assert.ok(parsed === undefined || instant.is(parsed))
      }),
    )
  })
})
