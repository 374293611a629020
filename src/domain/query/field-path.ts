import * as E from 'fp-ts/lib/Either.js'
import { Codec, refuse } from '../../kernel/codec/codec.js'
import { string } from '../../kernel/codec/leaves.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { InvalidQuery, shortened } from './errors.js'
import { MAX_PATH_PARTS } from './expression.js'

/** The name of a field and the keys and list indexes within its value, outermost first. None is empty. */
export type FieldPath = readonly [string, ...string[]]

/** `feedback.[type].field`: the type is taken as written. */
const OF_FEEDBACK = /^feedback\.\[(.+?)\]\./s
const TOKENS = /\\[\\.]|\.|[^\\.]+|\\/g

/**
 * Parses a field path. `.` separates keys, `\.` is a dot and `\\` a backslash in a key; any other character, also a
 * backslash before one, is itself. The left side says what is wrong with the text.
 */
export const parseFieldPath = (text: string): E.Either<string, FieldPath> => {
  const ofFeedback = OF_FEEDBACK.exec(text)
  if (ofFeedback !== null) {
    const within = parseFieldPath(text.slice(ofFeedback[0].length))
    return E.map((path: FieldPath): FieldPath => ['feedback', `[${ofFeedback[1]!}]`, ...path])(within)
  }
  const keys = ['']
  let last = ''
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '.') keys.push('')
    else keys.push(keys.pop()! + (token === '\\.' || token === '\\\\' ? token.slice(1) : token))
    last = token
  }
  if (last === '\\') return E.left('ends with a backslash: write \\\\ for a backslash in a key')
  if (keys.includes('')) return E.left('has an empty key: write \\. for a dot in a key')
  return E.right(keys as readonly string[] as FieldPath)
}

/** @throws InvalidQuery for a malformed path */
export const fieldPath = (text: string): FieldPath => {
  const parsed = parseFieldPath(text)
  if (E.isLeft(parsed)) throw new InvalidQuery(malformed(text, parsed.left))
  return parsed.right
}

const malformed = (text: string, problem: string): string => `Field path '${shortened(text)}' ${problem}`

/** The same text, as a field path; with `orEmpty` also the empty text. */
export const pathIn = (text: Codec<string>, orEmpty = false): Codec<string> => {
  const problemIn = (u: string) => (orEmpty && u === '' ? undefined : problemOf(u))
  return new Codec<string>(
    'FieldPath',
    (u): u is string => text.is(u) && problemIn(u) === undefined,
    (u, c) => {
      const decoded = text.validate(u, c)
      const problem = E.isRight(decoded) ? problemIn(decoded.right) : undefined
      return problem === undefined ? decoded : refuse(u, c, problem.type, problem.msg)
    },
    text.schema,
  )
}

export const fieldName = pathIn(string)

const problemOf = (text: string): { readonly type: string; readonly msg: string } | undefined => {
  const parsed = parseFieldPath(text)
  if (E.isLeft(parsed)) return { type: 'value_error', msg: `Value error, ${malformed(text, parsed.left)}` }
  return parsed.right.length <= MAX_PATH_PARTS
    ? undefined
    : { type: 'too_long', msg: `Field name should have at most ${MAX_PATH_PARTS} parts` }
}

/** Prints keys so that {@link parseFieldPath} reads them again. */
export const printFieldPath = (keys: readonly string[]): string =>
  keys.map((key) => key.replace(/[\\.]/g, '\\$&')).join('.')

/** The list index in a path part, from 0; undefined for an object key. */
export const listIndex = (part: string): number | undefined =>
  /^\d{1,9}$/.test(part) ? Number(part) : undefined

/** A member of an object, or an item of a list under the digits of its index. */
export interface JsonMember {
  readonly holder: Readonly<Record<string, Json>>
  readonly key: string
}

/**
 * The member at a path of at least one key. Neighbouring keys of the path may be one key of an object, with dots between
 * them. Of several readings the first that has a value counts, in the order of the shorter first key: nested objects come
 * first. As in queries, null and the empty text are no value; they count if no reading has one.
 */
export const memberAt = (value: Json, path: readonly string[]): JsonMember | undefined =>
  firstMember(value, path, 0, ({ holder, key }) => holder[key] !== null && holder[key] !== '') ??
  firstMember(value, path, 0, () => true)

const firstMember = (
  value: Json,
  path: readonly string[],
  from: number,
  counts: (member: JsonMember) => boolean,
): JsonMember | undefined => {
  const holder = value as JsonMember['holder']
  const onwards = (key: string, next: number): JsonMember | undefined => {
    if (next < path.length) return firstMember(holder[key]!, path, next, counts)
    return counts({ holder, key }) ? { holder, key } : undefined
  }
  if (Array.isArray(value)) {
    const index = listIndex(path[from]!)
    return index !== undefined && index < value.length ? onwards(String(index), from + 1) : undefined
  }
  if (!isJsonObject(value)) return undefined
  let key = ''
  for (let at = from; at < path.length; at += 1) {
    key += at === from ? path[at]! : `.${path[at]!}`
    const found = Object.hasOwn(value, key) ? onwards(key, at + 1) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** The value at a path; undefined if it leads nowhere. */
export const valueAt = (value: Json, path: readonly string[]): Json | undefined => {
  if (path.length === 0) return value
  const member = memberAt(value, path)
  return member?.holder[member.key]
}
