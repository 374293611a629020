import assert from 'node:assert/strict'
import fc from 'fast-check'
import { jsonDifferences, MAX_LEAVES } from '../../../web/compare/json-leaves.js'

const differences = (left: string, right: string) =>
  jsonDifferences(left, right)
    .rows.filter((row) => row.left !== row.right)
    .map(({ path, left: a, right: b }) => [path, a, b])

describe('two JSON values side by side', () => {
  it('differ by path, with all digits', () => {
    const left = '{"a": {"b": [1, 9007199254740993]}, "c.d": "x", "gone": {}}'
    const right = '{"a": {"b": [1, 9007199254740992]}, "c.d": "y", "new": [null]}'
    assert.deepEqual(differences(left, right), [
      ['a.b[1]', '9007199254740993', '9007199254740992'],
      ['["c.d"]', 'x', 'y'],
      ['gone', '{}', undefined],
      ['new[0]', undefined, 'null'],
    ])
  })

  it('are equal however they are spaced and escaped', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.deepEqual(differences(JSON.stringify(value), JSON.stringify(value, null, 2)), [])
      }),
    )
    assert.deepEqual(differences('"\\u0041"', '"A"'), [])
  })

  it('differ exactly where one value was changed', () => {
    const list = fc.array(fc.integer(), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(list, fc.nat(), (values, at) => {
        const index = at % values.length
        const changed = values.with(index, values[index]! + 1)
        const found = differences(JSON.stringify({ values }), JSON.stringify({ values: changed }))
        assert.deepEqual(found, [[`values[${index}]`, String(values[index]), String(changed[index])]])
      }),
    )
  })

  it('are cut where they have too many values, or are too deep', () => {
    const many = JSON.stringify(Array.from({ length: 2 * MAX_LEAVES }, (_, n) => n))
    const { rows, isCut } = jsonDifferences(many, '[]')
    assert.equal(isCut, true)
    assert.equal(rows.length, MAX_LEAVES + 1)
    const deep = `${'['.repeat(20_000)}1${']'.repeat(20_000)}`
    assert.equal(jsonDifferences(deep, deep).rows.length, 1)
  })
})
