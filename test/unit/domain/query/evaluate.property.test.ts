import assert from 'node:assert/strict'
import fc from 'fast-check'
import { meetsQuery } from '../../../../src/domain/query/evaluate.js'
import { fieldPath } from '../../../../src/domain/query/field-path.js'
import { evaluateOver, leafAt } from '../../../support/expression/evaluate.js'
import { jsonPayload, operationOnJson } from '../../../support/expression/arbitrary.js'

describe('a query evaluated in memory', () => {
  it('means what it means for the rows of ClickHouse', () =>
    fc.assert(
      fc.property(operationOnJson, jsonPayload, (operation, payload) => {
        const leaf = (name: string) => leafAt(payload, fieldPath(name).slice(1))
        const expected = evaluateOver(operation, { value: leaf, kind: () => 'leaf' })
        const found = meetsQuery(operation, (name) => {
          const value = leaf(name)
          return value === null || !('leaf' in value) ? undefined : value.leaf
        })
        assert.equal(found, expected === true)
      }),
      { numRuns: 3000 },
    ))
})
