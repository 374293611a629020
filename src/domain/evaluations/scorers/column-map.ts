import * as E from 'fp-ts/lib/Either.js'
import { withDigitsOf } from '../../../kernel/json/digits.js'
import type { Json, JsonObject } from '../../../kernel/json/json.js'
import { parseFieldPath, valueAt } from '../../query/field-path.js'
import type { ScorableRow } from '../scoring.js'

/** From the argument of a scorer to a path into the row. */
export type ColumnMap = Readonly<Record<string, string>>

/** Reads one value of a row; undefined where the row does not have it. */
export type FieldReader = (row: ScorableRow) => Json | undefined

/** The columns that hold the expected answer when `target` is not mapped, in order of preference. */
export const TARGET_COLUMNS = ['target', 'expected', 'expected_output', 'reference', 'answer', 'label']

const readOutput: FieldReader = ({ output }) => output

/**
 * Reads the value at a path. The first of these that exists:
 * 1. the dataset column whose whole name is the path, dots included, as the SDKs read it;
 * 2. for `output…`, the field of the model's output: `output`, `output.answer`;
 * 3. for `inputs…`, the field of the example: `inputs.question.0.text`;
 * 4. the field of the example: `question.0.text`.
 * The grammar is that of field paths.
 */
export const fieldReader = (path: string): FieldReader => {
  const parsed = parseFieldPath(path)
  return ({ example, output }) => {
    const column = member(example, path)
    if (column !== undefined || E.isLeft(parsed)) return column
    const [first, ...rest] = parsed.right
    if (first === 'output') return valueAt(output, rest)
    const inside = first === 'inputs' ? valueAt(example, rest) : undefined
    return inside ?? valueAt(example, parsed.right)
  }
}

/**
 * Reads the value of a scorer's argument. A mapped argument is only what its path leads to. Unmapped, `output` is the
 * model's output, `target` the first of {@link TARGET_COLUMNS} that the example has, and any other argument the column
 * of its name. The path `output` of the argument `output` is always the model's output, as in the SDKs, even where a
 * column has that name.
 */
export const argumentReader = (columnMap: ColumnMap, argument: string): FieldReader => {
  const path = Object.hasOwn(columnMap, argument) ? columnMap[argument]! : undefined
  if (argument === 'output' && (path === undefined || path === 'output')) return readOutput
  if (path !== undefined) return fieldReader(path)
  if (argument !== 'target') return ({ example }) => member(example, argument)
  return ({ example }) => {
    for (const column of TARGET_COLUMNS) {
      const value = member(example, column)
      if (value !== undefined) return value
    }
    return undefined
  }
}

/**
 * All arguments for a scorer that takes any, as the SDKs pass them: the columns of the example, `inputs` (the whole
 * example, unless a column has that name) and `output`, and over these what the column map names. A mapped field that
 * the row does not have is left out.
 */
export const allArguments = (columnMap: ColumnMap): ((row: ScorableRow) => JsonObject) => {
  const mapped = Object.keys(columnMap).map((name) => [name, argumentReader(columnMap, name)] as const)
  return (row) => {
    const given = new Map<string, Json>([['inputs', row.example], ...Object.entries(row.example)])
    given.set('output', row.output)
    for (const [name, read] of mapped) {
      const value = read(row)
      if (value === undefined) given.delete(name)
      else given.set(name, value)
    }
    return withDigitsOf(row.example, Object.fromEntries(given))
  }
}

const member = (example: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(example, name) ? example[name] : undefined
