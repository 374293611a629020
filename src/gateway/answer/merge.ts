import { digitsIn, rememberDigits } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { GrowingText, isGrowingObject, setMember, type Growing, type GrowingObject } from './growing.js'
import { indexIn, placeOf } from './places.js'

/** Members whose first text stays. */
const KEPT: ReadonlySet<string> = new Set(['id', 'call_id', 'tool_call_id'])

/** Members whose text replaces the one of the piece before. All other texts are appended to it. */
const REPLACED: ReadonlySet<string> = new Set(
  'type role object model format status phase channel recipient detail mime_type media_type finish_reason'.split(
    ' ',
  ),
)

export interface Merging {
  /** Takes characters of the memory budget. Returns how many of them may be kept. */
  readonly grant: (characters: number) => number
  /** Whether texts replace those of the piece before: members of a choice, such as a stop reason, are repeated. */
  readonly replacesTexts?: boolean
}

const OVERHEAD = 8

const fits = (characters: number, { grant }: Merging): boolean => grant(characters) === characters

/** Merges a piece into an object: appends texts, extends lists, and finds list elements by their index. */
export const mergeInto = (target: GrowingObject, piece: JsonObject, merging: Merging): void => {
  for (const [key, value] of Object.entries(piece)) {
    const known = memberOf(target, key)
    if (known === undefined && !fits(key.length + OVERHEAD, merging)) return
    if (key === 'index' && indexIn(target) !== undefined) continue
    const merged = mergedValue(known, value, key, merging)
    setMember(target, key, merged)
    const digits = digitsIn(piece, key) ?? (digitsIn(target, key) && JSON.stringify(merged))
    if (digits !== undefined && merged === value) rememberDigits(target, key, digits)
  }
}

export const memberOf = (target: GrowingObject, key: string): Growing | undefined =>
  Object.hasOwn(target, key) ? target[key] : undefined

/** A value of another kind than the pieces before, such as a number among texts, does not replace them. */
const mergedValue = (given: Growing | undefined, piece: Json, key: string, merging: Merging): Growing => {
  const known = hasContent(given) ? given : undefined
  if (typeof piece === 'number' || typeof piece === 'boolean') return known ?? piece
  if (!hasContent(piece as Growing)) return given ?? (piece as Growing)
  if (typeof piece === 'string') return mergedText(known, piece, key, merging)
  if (Array.isArray(piece))
    return isGrowingObject(known) ? known : mergedList(asList(known), piece as readonly Json[], key, merging)
  if (Array.isArray(known)) return mergedList(known, [piece], key, merging)
  if (known !== undefined && !isGrowingObject(known)) return known
  const target = known ?? {}
  mergeInto(target, piece as JsonObject, merging)
  return target
}

/** Whether later pieces can continue a value. */
export const hasContent = (
  value: Growing | undefined,
): value is string | GrowingText | Growing[] | GrowingObject => {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' && value !== ''
  if (value instanceof GrowingText) return true
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0
}

const mergedText = (
  known: string | GrowingText | Growing[] | GrowingObject | undefined,
  piece: string,
  key: string,
  merging: Merging,
): Growing => {
  const { grant, replacesTexts = false } = merging
  if (known === undefined) return piece.slice(0, grant(piece.length))
  if (known instanceof GrowingText) known.append(piece, grant)
  if (Array.isArray(known)) return mergedList(known, [{ type: 'text', text: piece }], key, merging)
  if (typeof known !== 'string' || KEPT.has(key)) return known
  const isLongerName = key === 'name' && piece.length >= known.length && piece.startsWith(known)
  if (replacesTexts || REPLACED.has(key) || isLongerName)
    return fits(Math.max(0, piece.length - known.length), merging) ? piece : known
  if (key === 'name') return known + piece.slice(0, grant(piece.length))
  const text = new GrowingText(key, known)
  text.append(piece, grant)
  return text
}

/** A text that is followed by a list becomes its first part. */
const asList = (known: string | GrowingText | Growing[] | undefined): Growing[] => {
  if (Array.isArray(known)) return known
  return known === undefined ? [] : [{ type: 'text', text: known }]
}

const mergedList = (list: Growing[], pieces: readonly Json[], key: string, merging: Merging): Growing[] => {
  let isFirst = true
  for (const [at, piece] of pieces.entries()) {
    const place = isJsonObject(piece) ? placeOf(list, piece, { key, isFirst }) : undefined
    const known = place === undefined ? undefined : list[place]
    if (isJsonObject(piece) && isGrowingObject(known)) mergeInto(known, piece, merging)
    else {
      if (!fits(OVERHEAD, merging)) return list
      list.push(mergedValue(undefined, piece, key, merging))
      const digits = digitsIn(pieces, at)
      if (digits !== undefined) rememberDigits(list, list.length - 1, digits)
    }
    isFirst = false
  }
  return list
}
