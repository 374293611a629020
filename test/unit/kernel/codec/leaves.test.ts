import assert from 'node:assert/strict'
import fc from 'fast-check'
import { decode, type AnyCodec } from '../../../../src/kernel/codec/codec.js'
import {
  boolean,
  int64,
  integerBetween,
  json,
  jsonObject,
  number,
  oneOf,
  string,
} from '../../../../src/kernel/codec/leaves.js'
import { textUpToBytes, textUpToCharacters, utf8Bytes } from '../../../../src/kernel/codec/text.js'

const typeOf = (codec: AnyCodec, value: unknown): string => {
  const decoded = decode(codec)(value)
  return decoded._tag === 'Right' ? 'ok' : decoded.left.map(({ type }) => type).join()
}

const VALUES = { text: 'a', number: 1, fraction: 1.5, boolean: true, null: null, list: [], object: {} }

describe('a plain value', () => {
  const takes: readonly (readonly [string, AnyCodec, string, readonly (keyof typeof VALUES)[]])[] = [
    ['string', string, 'string_type', ['text']],
    ['boolean', boolean, 'bool_type', ['boolean']],
    ['int64', int64, 'int_type', ['number']],
    ['number', number, 'float_type', ['number', 'fraction']],
    ['object', jsonObject, 'dict_type', ['object']],
    ['json', json, 'missing', ['text', 'number', 'fraction', 'boolean', 'null', 'list', 'object']],
    ['word', oneOf('a', 'b'), 'literal_error', ['text']],
  ]
  for (const [name, codec, type, taken] of takes)
    it(`of type ${name} is never made from another type`, () => {
      for (const [key, value] of Object.entries(VALUES))
        assert.equal(typeOf(codec, value), (taken as readonly string[]).includes(key) ? 'ok' : type, key)
      assert.equal(typeOf(codec, undefined), type)
    })
})

describe('an int64', () => {
  for (const value of [0, -0, 1, -1, 2 ** 53, -(2 ** 53), 2 ** 62, -(2 ** 63), 2 ** 63 - 1024, 1e18])
    it(`may be ${value}`, () => assert.equal(typeOf(int64, value), 'ok'))
  for (const value of [
    0.5,
    -0.1,
    1e-9,
    2 ** 63,
    2 ** 64,
    -(2 ** 63) - 2048,
    1e19,
    1e308,
    Infinity,
    -Infinity,
    NaN,
    1n,
  ])
    it(`may not be ${value}`, () => assert.equal(typeOf(int64, value), 'int_type'))
})

describe('a whole number within bounds', () => {
  const codec = integerBetween(1, 100)
  const cases: readonly (readonly [unknown, string])[] = [
    [1, 'ok'],
    [100, 'ok'],
    [0, 'greater_than_equal'],
    [-1, 'greater_than_equal'],
    [-0, 'greater_than_equal'],
    [101, 'less_than_equal'],
    [1.5, 'int_type'],
    ['10', 'int_type'],
    [true, 'int_type'],
    [null, 'int_type'],
    [1e30, 'int_type'],
    [Infinity, 'int_type'],
    [[10], 'int_type'],
  ]
  for (const [value, type] of cases)
    it(`${type === 'ok' ? 'may' : 'may not'} be ${JSON.stringify(value)}`, () =>
      assert.equal(typeOf(codec, value), type))
})

describe('a bounded text', () => {
  it('is measured in bytes of UTF-8', () => {
    const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ maxLength: 100 }))
    fc.assert(
      fc.property(anyText, fc.nat(60), (text, most) => {
        assert.equal(utf8Bytes(text), Buffer.byteLength(text))
        const fits = Buffer.byteLength(text) <= most
        assert.equal(textUpToBytes(most).is(text), fits)
        assert.equal(typeOf(textUpToBytes(most), text), fits ? 'ok' : 'string_too_long')
      }),
    )
  })

  it('is measured in characters, of which one may be two units of UTF-16', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(50), (text, most) => {
        const fits = Array.from(text).length <= most
        assert.equal(textUpToCharacters(most).is(text), fits)
        assert.equal(typeOf(textUpToCharacters(most), text), fits ? 'ok' : 'string_too_long')
      }),
    )
  })
})
