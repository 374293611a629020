import type { Operand } from '../../domain/query/expression.js'
import { raw, sql, type Sql } from '../sql.js'
import { fieldPath } from '../../domain/query/field-path.js'

/** A text that the JSON of a column must contain for a condition to be true. */
interface RequiredText {
  readonly column: 'attributes' | 'inputs' | 'output'
  readonly text: string
}

const COLUMNS = new Map<string, RequiredText['column']>([
  ...(['attributes', 'inputs', 'output'] as const).flatMap((name) => [
    [name, name] as const,
    [`${name}_dump`, name] as const,
  ]),
  ['end_user', 'attributes'],
  ['environment', 'attributes'],
])

export interface RequiredTexts {
  readonly ofStart: readonly Sql[]
  readonly ofEnd: readonly Sql[]
}

/** Conditions on columns that follow from conjuncts. Searching JSON for a text costs a fraction of parsing it. */
export const requiredTexts = (conjuncts: readonly Operand[]): RequiredTexts => {
  const ofStart: Sql[] = []
  const ofEnd: Sql[] = []
  for (const conjunct of conjuncts) {
    const required = requiredText(conjunct)
    if (required === undefined) continue
    const { column, text } = required
    ;(column === 'output' ? ofEnd : ofStart).push(sql`position(${raw(column)}, ${text}) > 0`)
  }
  return { ofStart, ofEnd }
}

/** Case-insensitive conditions require no text, because `lowerUTF8` maps some letters outside ASCII to ASCII. */
const requiredText = (operand: Operand): RequiredText | undefined => {
  if ('$contains' in operand) {
    const { input, substr, case_insensitive } = operand.$contains
    return case_insensitive ? undefined : textIn(input, substr)
  }
  if (!('$eq' in operand)) return undefined
  const [a, b] = operand.$eq
  return textIn(a, b) ?? textIn(b, a)
}

const textIn = (field: Operand, value: Operand): RequiredText | undefined => {
  if (!('$getField' in field) || !('$literal' in value)) return undefined
  const column = COLUMNS.get(fieldPath(field.$getField)[0])
  if (column === undefined || typeof value.$literal !== 'string') return undefined
  return isStoredAsWritten(value.$literal) ? { column, text: value.$literal } : undefined
}

/**
 * JSON does not escape these characters, and none of them separates values. ClickHouse may print a number in another form
 * than the stored one, so the text needs a letter that no number has, nor `inf` or `nan`.
 */
const isStoredAsWritten = (text: string): boolean => /^[\w .@-]+$/.test(text) && /[^\W\daefin_]/i.test(text)
