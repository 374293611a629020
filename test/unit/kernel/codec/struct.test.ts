import assert from 'node:assert/strict'
import { decode, MAX_ERRORS, type AnyCodec } from '../../../../src/kernel/codec/codec.js'
import {
  arrayOf,
  nullable,
  nullableText,
  recordOf,
  withDefault,
} from '../../../../src/kernel/codec/containers.js'
import { boolean, int64, json, jsonObject, string } from '../../../../src/kernel/codec/leaves.js'
import type { Problem } from '../../../../src/kernel/codec/problem.js'
import { closed, open } from '../../../../src/kernel/codec/struct.js'

const inner = open('Inner', { required: { n: int64 }, optional: { list: nullable(arrayOf(string)) } })
const outer = closed('Outer', {
  required: { inner, items: arrayOf(inner) },
  optional: { text: nullableText(string), flag: withDefault(boolean, false), map: nullable(recordOf(int64)) },
})

const problemsOf = (codec: AnyCodec, value: unknown): readonly Problem[] => {
  const decoded = decode(codec)(value)
  return decoded._tag === 'Left' ? decoded.left : []
}

const told = (codec: AnyCodec, value: unknown): readonly string[] =>
  problemsOf(codec, value).map(({ loc, type }) => `${type} ${JSON.stringify(loc)}`)

const right = (codec: AnyCodec, value: unknown): unknown => {
  const decoded = decode(codec)(value)
  assert.ok(decoded._tag === 'Right')
  return decoded.right
}

describe('an object', () => {
  it('has every key once decoded: what is absent is null, or its default', () => {
    assert.deepEqual(right(outer, { inner: { n: 1 }, items: [] }), {
      inner: { n: 1, list: null },
      items: [],
      text: null,
      flag: false,
      map: null,
    })
  })

  it('loses keys it does not know, or refuses them, as it says', () => {
    assert.deepEqual(right(inner, { n: 1, more: 1 }), { n: 1, list: null })
    assert.deepEqual(told(outer, { inner: { n: 1, more: 1 }, items: [], more: 1 }), [
      'extra_forbidden ["more"]',
    ])
  })

  it('says where each problem lies, without places that the input does not have', () => {
    const value = {
      inner: { n: '1', list: ['a', 2] },
      items: [{ n: 1 }, { n: 1.5 }, 7, {}],
      flag: null,
      map: { a: 'b' },
    }
    assert.deepEqual(told(outer, value), [
      'int_type ["inner","n"]',
      'string_type ["inner","list",1]',
      'int_type ["items",1,"n"]',
      'model_attributes_type ["items",2]',
      'missing ["items",3,"n"]',
      'bool_type ["flag"]',
      'int_type ["map","a"]',
    ])
  })

  it('tells an index of a list, a number, from a key that looks like one, a string', () => {
    const keys = open('Keys', { required: { 0: arrayOf(open('Zero', { required: { 1: string } })) } })
    assert.deepEqual(problemsOf(keys, { 0: [{ 1: 2 }] })[0]?.loc, ['0', 0, '1'])
  })

  for (const root of [null, undefined, 1, 'text', true, [], [{ inner: {} }]])
    it(`is not ${JSON.stringify(root)}`, () =>
      assert.deepEqual(told(outer, root), ['model_attributes_type []']))

  for (const key of ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf', '__defineGetter__'])
    it(`takes ${key} for a key like any other`, () => {
      const value = JSON.parse(
        `{"inner": {"n": 1}, "items": [], "${key}": {"n": 1, "polluted": true}}`,
      ) as unknown
      assert.deepEqual(told(outer, value), [`extra_forbidden ["${key}"]`])
      const decoded = right(inner, JSON.parse(`{"n": 1, "${key}": {"list": ["x"]}}`)) as object
      assert.deepEqual(Object.keys(decoded), ['n', 'list'])
      assert.equal(Object.getPrototypeOf(decoded), Object.prototype)
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
    })

  it('does not take an inherited member for a field', () => {
    const wanted = open('Wanted', { required: { constructor: json, toString: json } })
    assert.deepEqual(told(wanted, {}), ['missing ["constructor"]', 'missing ["toString"]'])
  })

  it('keeps a dictionary with any keys', () => {
    const value = JSON.parse('{"__proto__": 1, "constructor": 2, "": 3}') as object
    assert.deepEqual(Object.entries(right(recordOf(int64), value) as object), Object.entries(value))
    assert.equal(right(jsonObject, value), value)
  })
})

describe('an input with errors without number', () => {
  const many = Array.from({ length: 200_000 }, (_, i) => i)

  it('is told of the first ones', () => {
    assert.equal(problemsOf(arrayOf(string), many).length, MAX_ERRORS)
    const extras = Object.fromEntries(many.map((i) => [`k${i}`, i]))
    assert.equal(problemsOf(closed('None', {}), extras).length, MAX_ERRORS)
    assert.equal(problemsOf(recordOf(string), extras).length, MAX_ERRORS)
    assert.equal(problemsOf(outer, { inner: { n: 1, list: many }, items: many }).length, MAX_ERRORS)
  })

  it('is told of a key in short, whatever its length', () => {
    const [problem] = problemsOf(closed('None', {}), { [`${'k'.repeat(255)}😀${'k'.repeat(1e6)}`]: 1 })
    const [key] = problem!.loc
    assert.ok(typeof key === 'string' && key.length < 300 && key.startsWith('kkk') && key.isWellFormed())
  })
})

describe('what may be left out', () => {
  it('is null when absent or null', () => {
    for (const value of [undefined, null]) assert.equal(right(nullable(int64), value), null)
    assert.equal(right(nullable(int64), 0), 0)
    assert.deepEqual(told(nullable(int64), ''), ['int_type []'])
  })

  it('is null also when empty, where it is text', () => {
    for (const value of [undefined, null, '']) assert.equal(right(nullableText(string), value), null)
    assert.equal(right(nullableText(string), ' '), ' ')
    for (const value of [0, false, [], {}])
      assert.deepEqual(told(nullableText(string), value), ['string_type []'])
  })

  it('has its default when absent, and when null only where that is said', () => {
    assert.equal(right(withDefault(boolean, true), undefined), true)
    assert.deepEqual(told(withDefault(boolean, true), null), ['bool_type []'])
    assert.equal(right(withDefault(boolean, true, true), null), true)
  })

  it('has a least length where it is a list', () => {
    assert.deepEqual(told(arrayOf(string, 1), []), ['too_short []'])
    for (const value of [null, 'ab', { length: 1, 0: 'a' }, 1])
      assert.deepEqual(told(arrayOf(string), value), ['list_type []'])
  })
})

describe('a problem', () => {
  it('never quotes what was received', () => {
    const canary = 'CANARY-b1f7'
    const value = {
      inner: { n: canary, list: canary },
      items: canary,
      flag: canary,
      map: canary,
      text: [canary],
    }
    assert.equal(JSON.stringify(problemsOf(outer, value)).includes(canary), false)
    assert.equal(JSON.stringify(problemsOf(outer, canary)).includes(canary), false)
  })
})
