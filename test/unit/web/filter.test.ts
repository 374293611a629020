import assert from 'node:assert/strict'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { query as queryCodec } from '../../../src/domain/query/query.js'
import { decode } from '../../../src/kernel/codec/codec.js'
import {
  chipText,
  conditionOf,
  conjunctsIn,
  filterText,
  needsValue,
  operandOf,
  operatorsOf,
  OPERATORS,
  queryOf,
  type Operator,
} from '../../../web/traces/filter.js'
import { neighbourRange } from '../../../web/kit/range.js'
import { columnsIn, DEFAULT_COLUMNS } from '../../../web/traces/list-columns.js'
import { addressOf, viewOf } from '../../../web/traces/saved-view.js'

const conditions = fc
  .record(
    {
      field: fc.constantFrom('op_name', 'inputs.question', 'usage.total_cost', 'model', 'own model'),
      operator: fc.constantFrom(...(Object.keys(OPERATORS) as Operator[])),
      value: fc.oneof(fc.string(), fc.integer().map(String)),
    },
    { noNullPrototype: true },
  )
  .filter(({ field, operator }) => operatorsOf(field).includes(operator))
  .filter(({ operator, value }) => operator !== 'in' || !/^\s|\s$|,/.test(value))
  .map((condition) => (needsValue(condition.operator) ? condition : { ...condition, value: '' }))

describe('the filter of a list', () => {
  it('is a query that the API accepts', () => {
    fc.assert(
      fc.property(fc.array(conditions), fc.string(), (given, q) => {
        const filter = filterText(given.map(operandOf))
        const query = queryOf({ filter, q, range: '7d' }, 0)
        assert.ok(E.isRight(decode(queryCodec)(JSON.parse(JSON.stringify(query)))))
      }),
    )
  })

  it('gives each condition back as it was set', () => {
    fc.assert(
      fc.property(conditions, (condition) => {
        assert.deepEqual(conditionOf(JSON.parse(JSON.stringify(operandOf(condition)))), condition)
      }),
    )
  })

  it('survives the address', () => {
    fc.assert(
      fc.property(fc.array(conditions), (given) => {
        const operands = given.map(operandOf)
        assert.deepEqual(conjunctsIn(filterText(operands)), JSON.parse(JSON.stringify(operands)))
      }),
    )
  })

  it('shows a condition that it cannot edit as it is', () => {
    const operand = { $or: [{ $eq: [{ $getField: 'a' }, { $literal: 1 }] }] }
    assert.equal(conditionOf(operand), undefined)
    assert.equal(chipText(operand), JSON.stringify(operand))
    assert.deepEqual(conjunctsIn('{not json'), [])
  })

  it('moves a range by its length', () => {
    const now = Date.parse('2026-11-26T12:00:00Z')
    const hourBefore = '2026-11-26T10:00:00.000Z..2026-11-26T11:00:00.000Z'
    assert.equal(neighbourRange('1h', -1, now), hourBefore)
    assert.equal(neighbourRange(hourBefore, 1, now), '2026-11-26T11:00:00.000Z..2026-11-26T12:00:00.000Z')
    assert.equal(neighbourRange('', -1, now), undefined)
    assert.equal(neighbourRange('..2026-11-26T11:00:00.000Z', 1, now), undefined)
  })

  it('comes back from a saved view', () => {
    const filter = filterText([operandOf({ field: 'op_name', operator: 'equals', value: 'answer' })])
    const address = {
      filter,
      cols: 'started,op,inputs.b,inputs.a%2Cc',
      sort: '-usage.total_cost',
      roots: '0',
    }
    assert.deepEqual(addressOf(viewOf('mine', address)), { ...address, q: '', range: '' })
  })

  it('adds the columns of a view without an order to the default ones', () => {
    const definition = { cols: { 'inputs.a': true, 'inputs.b': false } }
    const { cols = '' } = addressOf({ view_type: 'traces', label: 'theirs', definition })
    assert.deepEqual(columnsIn(cols), [...DEFAULT_COLUMNS, 'inputs.a'])
  })
})
