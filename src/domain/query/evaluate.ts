import type { Json } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Contains, ConvertTo, Operand, Operation } from './expression.js'

/** Three-valued logic: null if a side has no value. */
type Truth = boolean | null

/** A JSON value, or undefined for none. The type is known before the value: it decides how two sides are compared. */
interface Value {
  readonly type: 'json' | 'text' | 'number' | 'boolean'
  readonly value: Json | undefined
}

/** Evaluates a query in memory, as ClickHouse does for fields that hold JSON. `field` returns the value of a field. */
export const meetsQuery = (operation: Operation, field: (name: string) => Json | undefined): boolean =>
  truth(operation, field) === true

type FieldOf = Parameters<typeof meetsQuery>[1]

const truth = (operation: Operation, field: FieldOf): Truth => {
  const valueOf = (operand: Operand) => evaluated(operand, field)
  const conditionOf = (operand: Operand) => asCondition(valueOf(operand))
  if ('$and' in operation) return all(operation.$and.map(conditionOf))
  if ('$or' in operation) return any(operation.$or.map(conditionOf))
  if ('$not' in operation) return not(conditionOf(operation.$not[0]))
  if ('$in' in operation) {
    const [one, list] = operation.$in
    return any(list.map((item) => equal(valueOf(one), valueOf(item))))
  }
  if ('$contains' in operation) return contains(operation.$contains, field, false)
  if ('$containsToken' in operation) return contains(operation.$containsToken, field, true)
  if ('$eq' in operation) return equal(valueOf(operation.$eq[0]), valueOf(operation.$eq[1]))
  if ('$usedModel' in operation) return null
  const [[operator, [left, right]]] = Object.entries(operation) as [
    [keyof typeof ORDERS, readonly [Operand, Operand]],
  ]
  const order = compare(valueOf(left), valueOf(right))
  return order === null ? null : ORDERS[operator](order)
}

const ORDERS = {
  $gt: (order: number) => order > 0,
  $gte: (order: number) => order >= 0,
  $lt: (order: number) => order < 0,
  $lte: (order: number) => order <= 0,
}

const evaluated = (operand: Operand, field: FieldOf): Value => {
  if ('$getField' in operand) return { type: 'json', value: field(operand.$getField) }
  if ('$literal' in operand) return literal(operand.$literal)
  if ('$convert' in operand) return converted(evaluated(operand.$convert.input, field), operand.$convert.to)
  return { type: 'boolean', value: truth(operand, field) ?? undefined }
}

const literal = (value: Json): Value => {
  if (value === null || value === '') return NOTHING
  if (typeof value === 'number') return { type: 'number', value }
  if (typeof value === 'boolean') return { type: 'boolean', value }
  return { type: 'text', value: textOfJson(value) }
}

/** A literal null or empty text: only equal to no value. */
const NOTHING: Value = { type: 'text', value: undefined }

const isMissing = ({ value }: Value): boolean => value === undefined || value === null || value === ''

const equal = (a: Value, b: Value): Truth => {
  if (a === NOTHING) return isMissing(b)
  if (b === NOTHING) return isMissing(a)
  const order = compare(a, b)
  return order === null ? null : order === 0
}

/** Negative, zero or positive; null if a side has no value of the type. */
const compare = (a: Value, b: Value): number | null => {
  if (isMissing(a) || isMissing(b)) return null
  const types = [a.type, b.type]
  const as = types.includes('number') ? numberOf : types.includes('boolean') ? booleanOf : textOf
  const [left, right] = [as(a), as(b)]
  if (left === null || right === null) return null
  if (left === right) return 0
  return typeof left === 'string' ? compareText(left, right as string) : left > right ? 1 : -1
}

/** By code points, which is the order of the UTF-8 bytes. */
const compareText = (a: string, b: string): number => {
  let at = 0
  while (at < a.length && a.codePointAt(at) === b.codePointAt(at)) at += a.codePointAt(at)! > 0xffff ? 2 : 1
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1)
}

const textOf = ({ value }: Value): string => textOfJson(value!)
const textOfJson = (value: Json): string => (typeof value === 'string' ? value : jsonText(value))

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** A boolean is a number unless it is JSON. */
const numberOf = (value: Value): number | null => {
  if (value.type === 'boolean') return Number(value.value)
  const text = textOf(value)
  return NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : null
}

const booleanOf = (value: Value): boolean | null => {
  const text = textOf(value)
  if (text === 'true' || text === 'false') return text === 'true'
  const number = numberOf(value)
  return number === null ? null : number !== 0
}

/** An operand as a condition: text is true. */
const asCondition = (value: Value): Truth =>
  isMissing(value) ? null : value.type === 'text' ? true : (booleanOf(value) ?? true)

const converted = (value: Value, to: ConvertTo): Value => {
  if (to === 'exists')
    return {
      type: 'boolean',
      value:
        value !== NOTHING &&
        value.value !== undefined &&
        value.value !== null &&
        !(value.type === 'text' && value.value === ''),
    }
  const type = ({ string: 'text', bool: 'boolean', double: 'number', int: 'number' } as const)[to]
  if (isMissing(value)) return { type, value: undefined }
  const convert = { string: textOf, bool: booleanOf, double: numberOf, int: integerOf }[to]
  return { type, value: convert(value) ?? undefined }
}

const integerOf = (value: Value): number | null => {
  const text = value.type === 'boolean' ? String(Number(value.value)) : textOf(value)
  if (!/^[+-]?\d{1,400}$/.test(text)) return null
  const integer = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, integer) === integer ? Number(integer) : null
}

const contains = (
  { input, substr, case_insensitive: ignoresCase }: Contains,
  field: FieldOf,
  byTokens: boolean,
): boolean => {
  const { value } = evaluated(input, field)
  const sought = '$literal' in substr && substr.$literal === '' ? '' : soughtText(evaluated(substr, field))
  if (sought === '' && !byTokens) return true
  if (value === undefined || value === null || sought === null) return false
  const cased = (text: string) => {
    const composed = text.normalize('NFC')
    return ignoresCase ? withoutCase(composed) : composed
  }
  const texts = Array.isArray(value)
    ? value.map((item: Json) => (item === null ? '' : textOfJson(item)))
    : [textOfJson(value)]
  return texts.some((text) => {
    if (text === '' || !byTokens) return text !== '' && cased(text).includes(cased(sought))
    const [tokens, wanted] = [tokensOf(cased(text)), tokensOf(cased(sought))]
    return wanted.length > 0 && wanted.every((token) => tokens.includes(token))
  })
}

/** Final sigma and the dot of the Turkish capital I differ in case alone. */
const withoutCase = (text: string): string =>
  text.toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i')

const soughtText = (value: Value): string | null => (isMissing(value) ? null : textOf(value))

/** All characters outside ASCII are part of a token. */
const tokensOf = (text: string): readonly string[] => text.match(/[0-9A-Za-z\u0080-\uffff]+/g) ?? []

const not = (one: Truth): Truth => (one === null ? null : !one)
const all = (truths: readonly Truth[]): Truth =>
  truths.includes(false) ? false : truths.includes(null) ? null : true
const any = (truths: readonly Truth[]): Truth => not(all(truths.map(not)))
