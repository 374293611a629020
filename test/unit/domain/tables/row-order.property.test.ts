import assert from 'node:assert/strict'
import fc from 'fast-check'
import { RowOrder } from '../../../../src/domain/tables/row-order.js'

const change = fc.record({ put: fc.boolean(), at: fc.double({ min: 0, max: 1, noNaN: true }) })

describe('the order of rows', () => {
  it('is that of a list that is changed in the same way', () => {
    fc.assert(
      fc.property(
        fc.nat(3000),
        fc.array(fc.array(change, { minLength: 1, maxLength: 300 }), { maxLength: 8 }),
        (size, changes) => {
          const model = Array.from({ length: size }, (_, i) => `row ${i}`)
          const order = new RowOrder(model)
          for (const [i, { put, at }] of changes.flat().entries()) {
            if (put) {
              const index = Math.round(at * model.length)
              model.splice(index, 0, `new ${i}`)
              order.insert(index, `new ${i}`)
            } else if (model.length > 0) {
              const index = Math.floor(at * model.length * 0.999)
              assert.equal(order.pop(index), model.splice(index, 1)[0])
            }
            assert.equal(order.length, model.length)
          }
          assert.deepEqual(order.toArray(), model)
        },
      ),
    )
  })

  it('grows and shrinks at one place', () => {
    const order = new RowOrder([])
    const rows = Array.from({ length: 5000 }, (_, i) => String(i))
    for (const row of rows) order.insert(0, row)
    assert.deepEqual(order.toArray(), rows.toReversed())
    for (const row of rows.toReversed()) assert.equal(order.pop(0), row)
    assert.deepEqual([order.length, order.toArray()], [0, []])
  })
})
