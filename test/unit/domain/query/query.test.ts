import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { decode } from '../../../../src/kernel/codec/codec.js'
import {
  MAX_EXPRESSION_DEPTH,
  MAX_EXPRESSION_SIZE,
  MAX_LIST_LITERALS,
  MAX_PATH_PARTS,
} from '../../../../src/domain/query/expression.js'
import { query } from '../../../../src/domain/query/query.js'
import { arbitraryOperation } from '../../../support/expression/arbitrary.js'

const problemsIn = ($expr: unknown): readonly string[] => {
  const decoded = decode(query)({ $expr })
  return E.isRight(decoded) ? [] : decoded.left.map(({ type, loc }) => `${type} ${loc.slice(1).join('.')}`)
}

const field = { $getField: 'a' }
const one = { $literal: 1 }

describe('the grammar of queries', () => {
  it('takes every expression as it is', () => {
    fc.assert(
      fc.property(arbitraryOperation, (operation) => {
        const decoded = decode(query)({ $expr: operation })
        assert.ok(E.isRight(decoded))
        assert.equal(JSON.stringify(decoded.right), JSON.stringify({ $expr: operation }))
      }),
    )
  })

  it('passes over keys that say nothing, and fills in what may be left out', () => {
    const $contains = { input: { ...field, more: 1 }, substr: one, case_insensitive: null, more: 2 }
    const decoded = decode(query)({ $expr: { $contains, note: 'x' } })
    assert.ok(E.isRight(decoded))
    const expected = { $contains: { input: field, substr: one, case_insensitive: false } }
    assert.deepEqual(decoded.right.$expr, expected)
  })

  it('reads literals within literals', () => {
    const written = { $literal: { a: { $literal: [{ $literal: 1 }, 2] } } }
    const decoded = decode(query)({ $expr: { $and: [written] } })
    assert.ok(E.isRight(decoded))
    assert.deepEqual(decoded.right.$expr, { $and: [{ $literal: { a: [1, 2] } }] })
  })

  const refused: readonly (readonly [unknown, string])[] = [
    [null, 'value_error '],
    [[], 'value_error '],
    [one, 'value_error '],
    [{ $and: [], $or: [] }, 'value_error '],
    [{ $and: field }, 'list_type $and'],
    [{ $and: [1] }, 'value_error $and.0'],
    [{ $not: field }, 'tuple_type $not'],
    [{ $not: [] }, 'too_short $not'],
    [{ $eq: [one, one, one] }, 'too_long $eq'],
    [{ $lt: [one, { $getField: null }] }, 'string_type $lt.1.$getField'],
    [{ $in: [field, one] }, 'list_type $in.1'],
    [{ $in: [field, [one, 2]] }, 'value_error $in.1.1'],
    [{ $contains: { input: field } }, 'missing $contains.substr'],
    [{ $containsToken: [] }, 'model_attributes_type $containsToken'],
    [
      { $contains: { input: field, substr: one, case_insensitive: 1 } },
      'bool_type $contains.case_insensitive',
    ],
    [{ $usedModel: 1 }, 'string_type $usedModel'],
    [{ $usedModel: ['m'] }, 'too_short $usedModel'],
    [{ $usedModel: ['m', 'below'] }, 'literal_error $usedModel.1'],
    [{ $and: [{ $convert: { input: field, to: 'date' } }] }, 'literal_error $and.0.$convert.to'],
    [{ $and: [{ $convert: { input: field } }] }, 'missing $and.0.$convert.to'],
    [{ $and: [{ $literal: undefined }] }, 'missing $and.0.$literal'],
    [{ __proto__: null, constructor: [] }, 'value_error '],
  ]
  for (const [expression, problem] of refused)
    it(`refuses ${JSON.stringify(expression)}, naming the place`, () =>
      assert.deepEqual(problemsIn(expression), [problem]))

  it('refuses what is too deep or too large, and says so once', () => {
    const nested = (depth: number): object => (depth === 1 ? { $and: [] } : { $not: [nested(depth - 1)] })
    assert.deepEqual(problemsIn(nested(MAX_EXPRESSION_DEPTH)), [])
    assert.match(problemsIn(nested(MAX_EXPRESSION_DEPTH + 1)).join(), /^recursion_depth (\$not\.0\.?)+$/)
    const wide = (count: number) => ({ $and: Array<object>(count).fill(one) })
    assert.deepEqual(problemsIn(wide(MAX_EXPRESSION_SIZE - 1)), [])
    assert.deepEqual(problemsIn(wide(MAX_EXPRESSION_SIZE)), [`too_long $and.${MAX_EXPRESSION_SIZE - 1}`])
    const models = { $and: Array<object>(10).fill({ $usedModel: 'm' }) }
    assert.deepEqual(problemsIn(models), ['too_long $and.9.$usedModel'])
    const path = { $and: [{ $getField: `a${'.a'.repeat(MAX_PATH_PARTS)}` }] }
    assert.deepEqual(problemsIn(path), ['too_long $and.0.$getField'])
    const among = (count: number) => ({ $in: [field, Array<object>(count).fill(one)] })
    assert.deepEqual(problemsIn(among(MAX_LIST_LITERALS)), [])
    assert.deepEqual(problemsIn(among(MAX_LIST_LITERALS + 1)), [`too_long $in.1.${MAX_LIST_LITERALS}`])
    assert.ok(problemsIn(wide(1_000_000)).length <= 100)
  })
})
