import assert from 'node:assert/strict'
import fc from 'fast-check'
import { columnsIn, DEFAULT_COLUMNS, printColumns, withMoved } from '../../../web/traces/list-columns.js'

describe('the columns of the list', () => {
  it('survive the address, whatever their names', () => {
    const name = fc.string({ minLength: 1 }).filter((text) => text !== 'op')
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 20 }), (names) => {
        const shown = ['op', ...names]
        assert.deepEqual(columnsIn(printColumns(shown)), shown)
      }),
    )
  })

  it('are the default ones where an address names none', () => {
    assert.deepEqual(columnsIn(''), DEFAULT_COLUMNS)
    assert.equal(printColumns(DEFAULT_COLUMNS), '')
  })

  it('always have the link to the trace', () => assert.deepEqual(columnsIn('cost,cost'), ['op', 'cost']))

  it('move by places, not beyond the first', () => {
    assert.deepEqual(withMoved(['a', 'b', 'c'], 'b', -1), ['b', 'a', 'c'])
    assert.deepEqual(withMoved(['a', 'b', 'c'], 'b', 1), ['a', 'c', 'b'])
    assert.deepEqual(withMoved(['a', 'b', 'c'], 'a', -1), ['a', 'b', 'c'])
  })
})
