import { fieldValue, type Derived, type Fields } from '../expression/fields.js'
import { fieldPath, printFieldPath } from '../../domain/query/field-path.js'
import { jsonAt, partAt, stringAt } from '../expression/json.js'
import { sql, type Sql } from '../sql.js'

/** A column of JSON in which references are followed, and the values that they lead to, as JSON texts. */
export interface Expansion {
  /** The field of the column, which may be behind an earlier expansion. */
  readonly field: string
  readonly refs: readonly string[]
  readonly values: readonly string[]
}

const ROOT = 'expanded'

/** The name of a field behind an expansion. */
export const expandedField = (index: number, path: readonly string[]): string =>
  printFieldPath([ROOT, String(index), ...path])

/** The SQL of the reference in a column; empty if it has none. */
export const refSql = (fields: Fields, field: string): Sql | undefined => {
  const value = fieldValue(fields, field)
  return value.type === 'json' ? stringAt(value) : undefined
}

/** Fields behind expansions: of the value that the reference leads to, else of the value in its place. */
export const expandedFields = (fields: () => Fields, expansions: readonly Expansion[]): Fields => {
  const expanded: Derived = {
    kind: 'derived',
    value: (name) => {
      const [, index, ...path] = fieldPath(name)
      const expansion = expansions[Number(index)]
      if (expansion === undefined) return undefined
      const value = fieldValue(fields(), expansion.field)
      if (value.type !== 'json') return undefined
      const { refs, values } = expansion
      const json = sql`transform(ifNull(${stringAt(value)}, ''), ${refs}, ${values}, ${partAt(value)})`
      return { type: 'json', ...jsonAt(json, '1', path) }
    },
  }
  return { [ROOT]: expanded }
}
