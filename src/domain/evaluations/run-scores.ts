import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { meanOf, NumberList } from './statistics.js'

/** A field of the scores of one scorer: no keys for a score that is a single value. */
export interface ScoreField {
  readonly scorer: string
  readonly path: readonly string[]
}

/**
 * What the rows of a run have in a field. Every row is counted once: `count + noneCount + otherCount` is the number of
 * rows. Figures of different types are side by side, so that a rare other type hides nothing.
 */
export interface FieldScores extends ScoreField {
  /** The first of number, boolean and text that any row has; null if none does. */
  readonly kind: 'number' | 'boolean' | 'text' | null
  /** The rows whose value has the kind. Free text is not counted here. */
  readonly count: number
  /** The rows without a value: the row or its scorer failed, or the score is null, `{}` or lacks the field. */
  readonly noneCount: number
  readonly otherCount: number
  /** Sorted. */
  readonly numbers: Float64Array
  /** Of the numbers; null if there are none. */
  readonly mean: number | null
  readonly booleanCount: number
  readonly trueCount: number
  /** Of all rows, so that a row without a value counts against it; null if no row has a boolean. */
  readonly trueFraction: number | null
  /** How many rows have each short text; empty for free text. */
  readonly categories: ReadonlyMap<string, number>
}

/** The scores of a run, independent of the order of its rows. */
export interface RunScores {
  readonly rows: number
  /** The fields with a number, boolean or text, sorted; a scorer without any has the field without keys. */
  readonly fields: readonly FieldScores[]
  /** The named ones first. */
  readonly scorers: readonly ScorerRows[]
}

export interface ScorerRows {
  readonly scorer: string
  readonly noneCount: number
  /** Values in fields beyond the limits of depth, name and number. */
  readonly leftOut: number
}

/** Fields deeper inside a score are left out, and so are fields with a longer name. */
const MAX_DEPTH = 8
const MAX_NAME = 256
/** Of more fields, those whose keys sort first are kept, so that the order of the rows makes no difference. */
const MAX_FIELDS = 1000
const MAX_CATEGORY = 64
const MAX_CATEGORIES = 50

interface Field extends ScoreField {
  readonly numbers: NumberList
  trueCount: number
  falseCount: number
  /** By text; cleared when there are too many, since the field is free text then. */
  readonly categories: Map<string, number>
  isFreeText: boolean
  shortTexts: number
  longTexts: number
  /** Objects, lists, and numbers beyond a double. */
  others: number
}

/** Collects the scores of a run, row by row. Named scorers are included even if no row has a score of them. */
export const newRunScores = (names: readonly string[] = []) => {
  const fields = new Map<string, Field>()
  const leftOut = new Map<string, number>(names.map((name) => [name, 0]))
  let largest = ''
  let rows = 0

  const leaveOut = (scorer: string, values: number): void =>
    void leftOut.set(scorer, (leftOut.get(scorer) ?? 0) + values)

  const fieldAt = (key: string, scorer: string, path: readonly string[]): Field | undefined => {
    const known = fields.get(key)
    if (known !== undefined) return known
    if (fields.size >= MAX_FIELDS) {
      if (largest === '') largest = largestOf(fields.keys())
      if (key > largest) return undefined
      const dropped = fields.get(largest)!
      fields.delete(largest)
      leaveOut(dropped.scorer, scalarsIn(dropped))
      largest = ''
    }
    const field = newField(scorer, path)
    fields.set(key, field)
    return field
  }

  const add = (key: string, scorer: string, path: readonly string[], value: Json): void => {
    if (value === null) return
    if (typeof value !== 'object') {
      const field = fieldAt(key, scorer, path)
      return field === undefined ? leaveOut(scorer, 1) : addScalar(field, value)
    }
    const members = isJsonObject(value) ? Object.keys(value) : null
    if (members?.length === 0) return
    const field = fieldAt(key, scorer, path)
    if (field !== undefined) field.others += 1
    if (members === null) return
    if (path.length >= MAX_DEPTH) return leaveOut(scorer, 1)
    for (const name of members)
      if (name.length > MAX_NAME) leaveOut(scorer, 1)
      else add(keyOf(key, name), scorer, [...path, name], (value as Readonly<Record<string, Json>>)[name]!)
  }

  return {
    add(scores: Readonly<Record<string, Json>>): void {
      rows += 1
      for (const [scorer, score] of Object.entries(scores)) {
        leaveOut(scorer, 0)
        add(keyOf('', scorer), scorer, [], score)
      }
    },
    result: (): RunScores => resultOf(rows, fields, leftOut),
  }
}

const keyOf = (key: string, name: string): string => `${key}${name.length}:${name}`

const largestOf = (keys: Iterable<string>): string => {
  let largest = ''
  for (const key of keys) if (key > largest) largest = key
  return largest
}

const newField = (scorer: string, path: readonly string[]): Field => ({
  scorer,
  path,
  numbers: new NumberList(),
  trueCount: 0,
  falseCount: 0,
  categories: new Map(),
  isFreeText: false,
  shortTexts: 0,
  longTexts: 0,
  others: 0,
})

const addScalar = (field: Field, value: string | number | boolean): void => {
  if (value === true) field.trueCount += 1
  else if (value === false) field.falseCount += 1
  else if (typeof value === 'string') addText(field, value)
  else if (Number.isFinite(value)) field.numbers.push(value)
  else field.others += 1
}

const addText = (field: Field, text: string): void => {
  if (text.length > MAX_CATEGORY) {
    field.longTexts += 1
    return
  }
  field.shortTexts += 1
  if (field.isFreeText) return
  field.categories.set(text, (field.categories.get(text) ?? 0) + 1)
  if (field.categories.size <= MAX_CATEGORIES) return
  field.isFreeText = true
  field.categories.clear()
}

const resultOf = (
  rows: number,
  fields: ReadonlyMap<string, Field>,
  leftOut: ReadonlyMap<string, number>,
): RunScores => {
  const shown = [...fields.values()].filter((field) => scalarsIn(field) > 0)
  const withFields = new Set(shown.map(({ scorer }) => scorer))
  const scoreOf = (scorer: string) => fields.get(keyOf('', scorer)) ?? newField(scorer, [])
  const withoutFields = [...leftOut.keys()].filter((scorer) => !withFields.has(scorer)).map(scoreOf)
  return {
    rows,
    fields: [...shown, ...withoutFields].map((field) => scoresOf(field, rows)).sort(compareFields),
    scorers: [...leftOut].map(([scorer, values]) => ({
      scorer,
      noneCount: rows - valuesIn(scoreOf(scorer)),
      leftOut: values,
    })),
  }
}

const scoresOf = (field: Field, rows: number): FieldScores => {
  const { scorer, path, trueCount, categories } = field
  const numbers = field.numbers.sorted()
  const booleanCount = trueCount + field.falseCount
  const hasText = field.shortTexts + field.longTexts > 0
  const kind = numbers.length > 0 ? 'number' : booleanCount > 0 ? 'boolean' : hasText ? 'text' : null
  const texts = field.isFreeText ? 0 : field.shortTexts
  const count = kind === 'number' ? numbers.length : kind === 'boolean' ? booleanCount : texts
  const values = valuesIn(field)
  return {
    scorer,
    path,
    kind,
    count,
    noneCount: rows - values,
    otherCount: values - count,
    numbers,
    mean: numbers.length === 0 ? null : meanOf(numbers),
    booleanCount,
    trueCount,
    trueFraction: booleanCount === 0 ? null : trueCount / rows,
    categories,
  }
}

const scalarsIn = ({ numbers, trueCount, falseCount, shortTexts, longTexts }: Field): number =>
  numbers.length + trueCount + falseCount + shortTexts + longTexts

const valuesIn = (field: Field): number => scalarsIn(field) + field.others

export const compareFields = (a: ScoreField, b: ScoreField): number => {
  const [left, right] = [
    [a.scorer, ...a.path],
    [b.scorer, ...b.path],
  ]
  for (const [at, name] of left.entries()) {
    const order = at < right.length ? compareTexts(name, right[at]!) : 1
    if (order !== 0) return order
  }
  return left.length - right.length
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
