import { InvalidQuery } from '../../../src/domain/query/errors.js'
import type { Operation } from '../../../src/domain/query/expression.js'
import { statementFields } from '../../../src/projections/calls/fields.js'
import { compileCondition } from '../../../src/projections/expression/compile.js'
import type { Fields } from '../../../src/projections/expression/fields.js'

/** Whether an operation compares a field, by default of calls, with a value that it cannot have. */
export const isRefused = (operation: Operation, fields: Fields = statementFields().fields): boolean => {
  try {
    compileCondition(operation, fields)
    return false
  } catch (error) {
    if (error instanceof InvalidQuery) return true
    throw error
  }
}
