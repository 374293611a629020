import { fieldPath } from '../../domain/query/field-path.js'
import { UnknownField } from '../../domain/query/unknown-field.js'
import { jsonAt } from './json.js'
import type { Parameters } from './parameters.js'
import type { Value } from './value.js'

/**
 * How a field of a query reads in SQL, each Nullable: text, a number, a DateTime64(6), or text that is JSON, of which a
 * dotted name means a part.
 */
export interface Field {
  readonly kind: 'text' | 'number' | 'instant' | 'json'
  readonly sql: string
}

export type Fields = Readonly<Record<string, Field>>

/** @throws UnknownField */
export const fieldValue = (fields: Fields, name: string, parameters: Parameters): Value => {
  const [root, ...path] = fieldPath(name)
  const field = Object.hasOwn(fields, root) ? fields[root] : undefined
  if (field === undefined || (path.length > 0 && field.kind !== 'json')) throw new UnknownField(name)
  switch (field.kind) {
    case 'text':
      return { type: 'text', sql: `nullIf(${field.sql}, '')` }
    case 'number':
      return { type: 'number', sql: `toFloat64(${field.sql})` }
    case 'instant':
      return { type: 'instant', sql: field.sql }
    case 'json':
      return { type: 'json', ...jsonAt(field.sql, path, parameters) }
  }
}
