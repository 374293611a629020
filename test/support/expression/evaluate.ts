import type { Json } from '../../../src/kernel/json/json.js'
import type { Contains, Operand, Operation } from '../../../src/domain/query/expression.js'

/** What a query means, row by row, without any code of the service. */

export interface Row {
  readonly name: string | null
  readonly steps: number | null
  /** Microseconds since 1970. */
  readonly at: number | null
  readonly payload: Json
}

export type Truth = boolean | null

export type Single =
  | null
  | { readonly text: string; readonly written?: true }
  | { readonly number: number }
  | { readonly truth: boolean }
  | { readonly instant: number }
  | { readonly leaf: Json }

export type Value = Single | Several

/** A condition is true if it is true for one of them, else false. */
interface Several {
  readonly several: readonly Single[]
}

const isSeveral = (value: Value): value is Several => value !== null && 'several' in value

const forSome = (value: Value, condition: (one: Single) => Truth): Truth =>
  isSeveral(value) ? value.several.some((one) => condition(one) === true) : condition(value)

/** Of several the first. */
export const firstOf = (value: Value): Single => (isSeveral(value) ? value.several[0]! : value)

/** What the fields of a query mean for one row: their values, and which kind of value each would have. */
export interface Meaning {
  readonly value: (name: string) => Value
  readonly kind: (name: string) => string
}

export const evaluate = (operation: Operation, row: Row): Truth =>
  evaluateOver(operation, {
    value: (name) => fieldOf(row, name),
    kind: (name) =>
      (({ name: 'text', steps: 'number', at: 'instant' }) as Record<string, string>)[name] ?? 'leaf',
  })

export const evaluateOver = (operation: Operation, fields: Meaning): Truth => {
  const value = (operand: Operand): Value => {
    if ('$literal' in operand) return literal(operand.$literal)
    if ('$getField' in operand) return fields.value(operand.$getField)
    if ('$convert' in operand) return converted(value(operand.$convert.input), operand.$convert.to)
    const truth = evaluateOver(operand, fields)
    return truth === null ? null : { truth }
  }
  /** SQL needs to know what a value would be were it there. */
  const kind = (operand: Operand): string => {
    if ('$literal' in operand) return kindOf(literal(operand.$literal))
    if ('$getField' in operand) return fields.kind(operand.$getField)
    if ('$convert' in operand)
      return { double: 'number', int: 'number', string: 'text', bool: 'truth', exists: 'truth' }[
        operand.$convert.to
      ]
    return 'truth'
  }
  const isWrittenNull = (operand: Operand) =>
    '$literal' in operand && (operand.$literal === null || operand.$literal === '')
  const compared = (
    left: Operand,
    right: Operand,
    holds: (order: number) => boolean,
    equality = false,
  ): Truth => {
    if (isWrittenNull(left) || isWrittenNull(right)) {
      if (!equality) return null
      return forSome(value(isWrittenNull(left) ? right : left), isMissing)
    }
    return forSome(value(left), (a) =>
      forSome(value(right), (b) => {
        if (isMissing(a) || isMissing(b)) return null
        const order = ordered(a!, b!, [kind(left), kind(right)])
        return order === null ? null : holds(order)
      }),
    )
  }

  if ('$and' in operation) return all(operation.$and.map((one) => truthOf(value(one))))
  if ('$or' in operation) return not(all(operation.$or.map((one) => not(truthOf(value(one))))))
  if ('$not' in operation) return not(truthOf(value(operation.$not[0])))
  if ('$eq' in operation) return compared(...operation.$eq, (order) => order === 0, true)
  if ('$gt' in operation) return compared(...operation.$gt, (order) => order > 0)
  if ('$gte' in operation) return compared(...operation.$gte, (order) => order >= 0)
  if ('$lt' in operation) return compared(...operation.$lt, (order) => order < 0)
  if ('$lte' in operation) return compared(...operation.$lte, (order) => order <= 0)
  if ('$in' in operation) {
    const [one, list] = operation.$in
    return not(all(list.map((item) => not(compared(one, item, (order) => order === 0, true)))))
  }
  if ('$usedModel' in operation) throw new Error('rows have no usage')
  const spec = '$contains' in operation ? operation.$contains : operation.$containsToken
  const sought = soughtIn(spec, value)
  return forSome(value(spec.input), (input) => contained(input, sought, spec, '$containsToken' in operation))
}

const literal = (json: Json): Single => {
  if (json === null) return null
  if (typeof json === 'number') return { number: json }
  if (typeof json === 'boolean') return { truth: json }
  return { text: typeof json === 'string' ? json : JSON.stringify(json), written: true }
}

const fieldOf = ({ name, steps, at, payload }: Row, path: string): Value => {
  if (path === 'name') return name === null ? null : { text: name }
  if (path === 'steps') return steps === null ? null : { number: steps }
  if (path === 'at') return at === null ? null : { instant: at }
  return leafAt(payload, partsOf(path).slice(1))
}

/** The parts of a path, in which a backslash stands before a dot or a backslash that separates nothing. */
export const partsOf = (path: string): readonly string[] =>
  (path.match(/(?:\\[\\.]|[^.])+/g) ?? []).map((part) => part.replace(/\\([\\.])/g, '$1'))

/** What stands in JSON where the parts of a path lead, by the first of its readings that leads to a value, if any does. */
export const leafAt = (json: Json, parts: readonly string[]): Single => {
  const read = readingsOf(parts)
    .map((keys) => keys.reduce<Json | undefined>(stepInto, json))
    .filter((one) => one !== undefined)
  const found = read.find((one) => one !== null && one !== '') ?? read[0]
  return found === undefined || found === null ? null : { leaf: found }
}

/** All ways to join neighbouring parts, those with the shorter first key first. */
const readingsOf = (parts: readonly string[]): readonly (readonly Key[])[] =>
  parts.length === 0
    ? [[]]
    : parts.flatMap((_, at) => {
        const key = { text: parts.slice(0, at + 1).join('.'), isPart: at === 0 }
        return readingsOf(parts.slice(at + 1)).map((rest) => [key, ...rest])
      })

interface Key {
  readonly text: string
  readonly isPart: boolean
}

const stepInto = (json: Json | undefined, { text, isPart }: Key): Json | undefined => {
  if (typeof json !== 'object' || json === null) return undefined
  if (Array.isArray(json))
    return isPart && /^\d{1,9}$/.test(text) ? (json[Number(text)] as Json | undefined) : undefined
  return Object.hasOwn(json, text) ? (json as Record<string, Json>)[text] : undefined
}

const kindOf = (value: Single): string => (value === null ? 'nothing' : Object.keys(value)[0]!)

export const isMissing = (value: Single): boolean =>
  value === null || ('text' in value && value.text === '') || ('leaf' in value && value.leaf === '')

const numberText = (number: number): string => String(number).replace('e+', 'e')

const jsonText = (json: Json): string => (typeof json === 'string' ? json : writtenText(json))

/** As ClickHouse writes JSON, and numbers in it. */
const writtenText = (json: Json): string => {
  if (typeof json === 'number') return numberText(json)
  if (typeof json !== 'object' || json === null) return JSON.stringify(json)
  if (Array.isArray(json)) return `[${json.map((item: Json) => writtenText(item)).join(',')}]`
  const members = Object.entries(json).map(([key, member]) => `${JSON.stringify(key)}:${writtenText(member)}`)
  return `{${members.join(',')}}`
}

export const textOf = (value: NonNullable<Single>): string => {
  if ('text' in value) return value.text
  if ('number' in value) return numberText(value.number)
  if ('truth' in value) return String(value.truth)
  if ('leaf' in value) return jsonText(value.leaf)
  const milliseconds = Math.floor(value.instant / 1000)
  const rest = String(value.instant - milliseconds * 1000).padStart(3, '0')
  return `${new Date(milliseconds).toISOString().slice(0, 23)}${rest}Z`
}

const parsedNumber = (text: string): number | null => {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return null
  return Number.isFinite(Number(text)) ? Number(text) : null
}

export const numberOf = (value: NonNullable<Single>): number | null => {
  if ('number' in value) return value.number
  if ('truth' in value) return Number(value.truth)
  if ('instant' in value) return value.instant / 1_000_000
  return parsedNumber(textOf(value))
}

/** Conversion to a truth, for which text has to say one. */
const saidTruth = (value: NonNullable<Single>): boolean | null => {
  if ('truth' in value) return value.truth
  if ('instant' in value) return true
  const text = textOf(value)
  if (text === 'true' || text === 'false') return text === 'true'
  const number = numberOf(value)
  return number === null ? null : number !== 0
}

/** Coercion to a truth, where an operand stands for a condition: text that is there counts as true. */
const truthOf = (value: Value): Truth => {
  if (isSeveral(value)) return forSome(value, truthOf)
  if (isMissing(value)) return null
  return 'text' in value! ? true : (saidTruth(value!) ?? true)
}

const converted = (value: Value, to: string): Value =>
  isSeveral(value) ? { several: value.several.map((one) => convertedOne(one, to)) } : convertedOne(value, to)

const convertedOne = (value: Single, to: string): Single => {
  if (to === 'exists') return { truth: value !== null && !('text' in value && value.text === '') }
  if (isMissing(value)) return null
  const given = value!
  if (to === 'string') return { text: textOf(given) }
  if (to === 'bool') return wrapped('truth', saidTruth(given))
  if (to === 'double') return wrapped('number', numberOf(given))
  const text = 'truth' in given || 'instant' in given ? numberText(numberOf(given)!) : textOf(given)
  const fits =
    /^[+-]?\d+$/.test(text) &&
    BigInt.asIntN(64, BigInt(text.replace('+', ''))) === BigInt(text.replace('+', ''))
  return fits ? { number: Number(text) } : null
}

const wrapped = (kind: 'truth' | 'number', found: unknown): Single =>
  found === null ? null : ({ [kind]: found } as unknown as Single)

const ordered = (a: NonNullable<Single>, b: NonNullable<Single>, kinds: readonly string[]): number | null => {
  const by = (of: (value: NonNullable<Single>) => number | boolean | null) => difference(of(a), of(b))
  if (kinds.includes('instant')) {
    const other = 'instant' in a ? b : a
    if ('leaf' in other || ('text' in other && other.written === undefined))
      return byCodePoints(textOf(a), textOf(b))
    return by(microsecondsOf)
  }
  if (kinds.includes('number')) return by(numberOf)
  if (kinds.includes('truth')) return by(saidTruth)
  return byCodePoints(textOf(a), textOf(b))
}

const microsecondsOf = (value: NonNullable<Single>): number | null => {
  if ('instant' in value) return value.instant
  if (!('text' in value)) return microsecondsIn(numberOf(value)!)
  const iso = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z)?$/.exec(value.text)
  if (iso === null) return null
  const seconds = Date.parse(`${iso[1]}T${iso[2] ?? '00:00:00'}Z`)
  return Number.isNaN(seconds) ? null : seconds * 1000 + Number((iso[3] ?? '').padEnd(6, '0'))
}

/** A number counts seconds, milliseconds, microseconds or nanoseconds, whichever is the coarsest below 1e11 seconds. */
const microsecondsIn = (number: number): number => {
  const size = Math.abs(number)
  if (size < 1e11) return Math.floor(number * 1e6 + 0.5)
  if (size < 1e14) return Math.floor(number * 1e3 + 0.5)
  return Math.floor(number * (size < 1e17 ? 1 : 1e-3) + 0.5)
}

const difference = (a: number | boolean | null, b: number | boolean | null): number | null =>
  a === null || b === null ? null : a === b ? 0 : a > b ? 1 : -1

export const byCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const soughtIn = ({ substr }: Contains, value: (operand: Operand) => Value): string | null => {
  const sought = firstOf(value(substr))
  if (sought === null || (isMissing(sought) && !('written' in sought))) return null
  return textOf(sought)
}

const contained = (
  input: Single,
  sought: string | null,
  { case_insensitive, substr }: Contains,
  token: boolean,
): boolean => {
  if (sought === '' && !token && '$literal' in substr && substr.$literal === '') return true
  if (input === null || sought === null) return false
  const cased = (text: string) => {
    const composed = text.normalize('NFC')
    return case_insensitive
      ? composed.toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i')
      : composed
  }
  const items = 'leaf' in input && Array.isArray(input.leaf) ? (input.leaf as Json[]) : undefined
  const texts =
    items === undefined ? [textOf(input)] : items.map((item) => (item === null ? '' : jsonText(item)))
  return texts.some((text) => {
    if (text === '') return false
    if (!token) return cased(text).includes(cased(sought))
    const [has, wanted] = [tokensOf(cased(text)), tokensOf(cased(sought))]
    return wanted.length > 0 && wanted.every((one) => has.includes(one))
  })
}

/** Outside ASCII everything is part of a token. */
const tokensOf = (text: string): readonly string[] => text.match(/[0-9A-Za-z\u0080-\uffff]+/g) ?? []

const not = (truth: Truth): Truth => (truth === null ? null : !truth)

const all = (truths: readonly Truth[]): Truth =>
  truths.includes(false) ? false : truths.includes(null) ? null : true
