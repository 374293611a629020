import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import {
  fieldName,
  fieldPath,
  listIndex,
  memberAt,
  parseFieldPath,
  printFieldPath,
  valueAt,
} from '../../../../src/domain/query/field-path.js'
import { json, KEYS } from '../../../support/expression/arbitrary.js'
import { leafAt } from '../../../support/expression/evaluate.js'

describe('a field path', () => {
  for (const [text, ...keys] of [
    ['a', 'a'],
    ['a.b', 'a', 'b'],
    ['a\\.b', 'a.b'],
    ['a\\\\.b', 'a\\', 'b'],
    ['a\\\\\\.b', 'a\\.b'],
    ['a\\b.c', 'a\\b', 'c'],
    ['\\.', '.'],
    ['\\.\\..\\.', '..', '.'],
    ['a[0]."b".\'c\'', 'a[0]', '"b"', "'c'"],
    ['list.0.x', 'list', '0', 'x'],
    [' . ', ' ', ' '],
    ['feedback.[note].payload.a\\.b', 'feedback', '[note]', 'payload', 'a.b'],
    ['feedback.[wandb.a..b\\].payload', 'feedback', '[wandb.a..b\\]', 'payload'],
  ] as const)
    it(`${text} has the keys ${JSON.stringify(keys)}`, () => assert.deepEqual(fieldPath(text), keys))

  for (const [text, problem] of [
    ['', /empty key/],
    ['.', /empty key/],
    ['a.', /empty key/],
    ['.a', /empty key/],
    ['a..b', /'a\.\.b' has an empty key/],
    ['a\\', /ends with a backslash/],
    ['a.b\\\\\\', /ends with a backslash/],
    ['feedback.[note].', /empty key/],
    ['feedback.[note].payload..a', /empty key/],
  ] as const)
    it(`is refused with its name and the reason: ${text}`, () => {
      assert.throws(() => fieldPath(text), problem)
      assert.ok(!fieldName.is(text))
      assert.ok(E.isLeft(fieldName.decode(text)))
    })

  it('has at most 32 parts', () => {
    assert.ok(fieldName.is(Array.from({ length: 32 }, () => 'a').join('.')))
    assert.ok(!fieldName.is(Array.from({ length: 33 }, () => 'a').join('.')))
  })

  it('is read as it was printed', () =>
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, unit: fc.constantFrom('a', '.', '\\', '[', '"', '0') }), {
          minLength: 1,
        }),
        (keys) => {
          const printed = printFieldPath(keys)
          fc.pre(!printed.startsWith('feedback.['))
          assert.deepEqual(parseFieldPath(printed), E.right(keys))
        },
      ),
    ))
})

describe('the value at a path', () => {
  for (const [name, value, path, expected] of [
    ['nested', { user: { id: 1 } }, 'user.id', 1],
    ['a key with its dots', { 'user.id': 1 }, 'user.id', 1],
    ['nested before a key with dots', { 'user.id': 2, user: { id: 1 } }, 'user.id', 1],
    ['a key with dots where nesting leads nowhere', { 'user.id': 2, user: { name: 1 } }, 'user.id', 2],
    ['only the key of an escaped dot', { 'user.id': 2, user: { id: 1 } }, 'user\\.id', 2],
    ['a key with dots in the middle', { usage: { 'gpt-4.1': { n: 3 } } }, 'usage.gpt-4.1.n', 3],
    ['a longer key after a dead end', { a: { 'b.c': {} }, 'a.b': { c: { d: 4 } } }, 'a.b.c.d', 4],
    ['a key with dots where the nested value is null', { user: { id: null }, 'user.id': 2 }, 'user.id', 2],
    ['a key with dots where the nested value is empty', { user: { id: '' }, 'user.id': 0 }, 'user.id', 0],
    ['the nested null where no reading has a value', { user: { id: null }, 'user.id': '' }, 'user.id', null],
    ['an item', { list: [{ 'x.y': 5 }] }, 'list.0.x.y', 5],
    ['no item at digits that join', { list: [[6]] }, 'list.0.0', 6],
    ['no key of a prototype', {}, 'constructor.name', undefined],
    ['nothing', { a: 'text' }, 'a.length', undefined],
  ] as const)
    it(`is ${name}`, () => assert.equal(valueAt(value, fieldPath(path)), expected))

  it('is that of the first reading of all', () =>
    fc.assert(
      fc.property(
        json,
        fc.array(fc.constantFrom(...KEYS, 'c.d', '2'), { minLength: 1, maxLength: 5 }),
        (value, keys) => {
          const parts = keys.flatMap((key) => key.split('.'))
          const found = memberAt(value, parts)
          const leaf = leafAt(value, parts)
          const expected = leaf !== null && 'leaf' in leaf ? leaf.leaf : null
          assert.deepEqual(found?.holder[found.key] ?? null, expected)
        },
      ),
    ))

  it('has list indexes of at most nine digits', () =>
    assert.deepEqual(['0', '007', '999999999', '1000000000', '-1', '1.0'].map(listIndex), [
      0,
      7,
      999_999_999,
      undefined,
      undefined,
      undefined,
    ]))
})
