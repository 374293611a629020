import { isJsonObject, type Json } from '../../kernel/json/json.js'

/** JSON that grows as pieces of a stream arrive. */
export type Growing = string | number | boolean | null | Growing[] | GrowingObject
export interface GrowingObject {
  [key: string]: Growing
}

/** Members whose text replaces the one of the piece before. All other texts are appended to it. */
const REPLACED: ReadonlySet<string> = new Set(
  (
    'id type role index object model format status phase channel recipient detail mime_type media_type call_id ' +
    'tool_call_id finish_reason'
  ).split(' '),
)

/** Merges a piece into an object: appends texts, extends lists, and finds list elements by their index. */
export const mergeInto = (
  target: GrowingObject,
  piece: Readonly<Record<string, Json>>,
  size: Size = { characters: 0 },
): void => {
  for (const [key, value] of Object.entries(piece)) {
    const known = memberOf(target, key)
    if (known === undefined) size.characters += key.length + OVERHEAD
    setMember(target, key, mergedValue(known, value, key, size))
  }
}

export interface Size {
  /** The approximate size of what was merged, in characters of JSON. */
  characters: number
  /** Whether texts replace those of the piece before: members of a choice, such as a stop reason, are repeated. */
  readonly replacesTexts?: boolean
}

const OVERHEAD = 8

export const memberOf = (target: GrowingObject, key: string): Growing | undefined =>
  Object.hasOwn(target, key) ? target[key] : undefined

/** Defines the property, because an assignment to `__proto__` would set the prototype. */
export const setMember = (target: GrowingObject, key: string, value: Growing): void => {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
}

const mergedValue = (known: Growing | undefined, piece: Json, key: string, size: Size): Growing => {
  if (piece === null) return known ?? null
  if (typeof piece === 'string') return mergedText(known, piece, key, size)
  if (Array.isArray(piece)) {
    const list = asList(known)
    mergeList(list, piece as readonly Json[], key, size)
    return list
  }
  if (!isJsonObject(piece)) return piece as number | boolean
  const target = isGrowingObject(known) ? known : {}
  mergeInto(target, piece, size)
  return target
}

const mergedText = (known: Growing | undefined, piece: string, key: string, size: Size): Growing => {
  size.characters += piece.length
  if (typeof known === 'string') {
    if (piece === '') return known
    if (size.replacesTexts === true || REPLACED.has(key)) return piece
    if (key === 'name') return mergedName(known, piece)
    // `endsWith` flattens a text that grew by pieces: done for every piece, the cost is quadratic.
    return key === 'data' && known.endsWith('=') ? joinedBase64(known, piece) : known + piece
  }
  if (Array.isArray(known) || isGrowingObject(known)) {
    if (piece !== '' && Array.isArray(known)) mergeList(known, [{ type: 'text', text: piece }], key, size)
    return known
  }
  return piece
}

/** Upstreams send names in pieces, repeat them with each piece, or send a longer prefix each time. */
const mergedName = (known: string, piece: string): string => (piece.startsWith(known) ? piece : known + piece)

/** Each piece may be base64 of its own, with padding. */
const joinedBase64 = (known: string, piece: string): string =>
  Buffer.concat([Buffer.from(known, 'base64'), Buffer.from(piece, 'base64')]).toString('base64')

/** A text that is followed by a list becomes its first part. */
const asList = (known: Growing | undefined): Growing[] => {
  if (Array.isArray(known)) return known
  return typeof known === 'string' && known !== '' ? [{ type: 'text', text: known }] : []
}

const mergeList = (list: Growing[], pieces: readonly Json[], key: string, size: Size): void => {
  for (const piece of pieces) {
    const place = isJsonObject(piece) ? placeOf(list, piece, key) : undefined
    const known = place === undefined ? undefined : list[place]
    if (isJsonObject(piece) && isGrowingObject(known)) mergeInto(known, piece, size)
    else {
      size.characters += OVERHEAD
      list.push(mergedValue(undefined, piece, key, size))
    }
  }
}

const placeOf = (list: readonly Growing[], piece: Readonly<Record<string, Json>>, key: string) => {
  if (key === 'tool_calls') return placeOfCall(list, piece)
  const index = indexIn(piece)
  if (index !== undefined) return lastPlace(list, (known) => indexIn(known) === index)
  const last = list.length - 1
  const known = list[last]
  const continues =
    isGrowingObject(known) &&
    indexIn(known) === undefined &&
    known['type'] !== undefined &&
    known['type'] === piece['type'] &&
    typeof known['text'] === 'string' &&
    typeof piece['text'] === 'string'
  return continues ? last : undefined
}

/** The tool call that a piece continues. Upstreams leave out indexes and ids, or repeat them for several calls. */
const placeOfCall = (list: readonly Growing[], piece: Readonly<Record<string, Json>>): number | undefined => {
  const [index, id] = [indexIn(piece), piece['id']]
  const hasId = typeof id === 'string' && id !== ''
  if (hasId) {
    const same = lastPlace(list, (known) => known['id'] === id)
    if (same !== undefined) return same
  }
  const place =
    index === undefined
      ? list.length === 0
        ? undefined
        : list.length - 1
      : lastPlace(list, (known) => indexIn(known) === index)
  const known = place === undefined ? undefined : list[place]
  if (!isGrowingObject(known)) return undefined
  const isOther = hasId && typeof known['id'] === 'string' && known['id'] !== ''
  return isOther || (!hasId && startsNext(known, piece)) ? undefined : place
}

/** Whether a piece with a name starts another call, because the arguments of the known one are complete. */
const startsNext = (known: GrowingObject, piece: Readonly<Record<string, Json>>): boolean =>
  ['function', 'custom'].some((kind) => {
    const [before, next] = [known[kind], piece[kind]]
    if (!isGrowingObject(before) || !isJsonObject(next)) return false
    const [argumentsBefore, more] = [before['arguments'], next['arguments']]
    const isCalled = typeof next['name'] === 'string' && next['name'] !== ''
    return isCalled && more !== undefined && more !== null && more !== '' && isComplete(argumentsBefore)
  })

const isComplete = (given: Growing | undefined): boolean => {
  if (typeof given !== 'string') return isGrowingObject(given)
  if (!/[}\]"\w]\s*$/.test(given.slice(-16))) return false
  try {
    JSON.parse(given)
    return true
  } catch {
    return false
  }
}

/** Some upstreams send indexes as strings. */
export const indexIn = (value: Readonly<Record<string, unknown>>): number | undefined => {
  const index = value['index']
  const number = typeof index === 'string' && /^\d{1,9}$/.test(index) ? Number(index) : index
  return Number.isInteger(number) ? (number as number) : undefined
}

/** Only the last elements are searched, so that long lists stay linear. */
const MAX_SEARCHED = 256

const lastPlace = (
  list: readonly Growing[],
  matches: (known: GrowingObject) => boolean,
): number | undefined => {
  const from = Math.max(0, list.length - MAX_SEARCHED)
  const place = list.slice(from).findLastIndex((known) => isGrowingObject(known) && matches(known))
  return place < 0 ? undefined : from + place
}

export const isGrowingObject = (value: Growing | undefined): value is GrowingObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
