import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import {
  GrowingText,
  isGrowingObject,
  settled,
  WRITTEN,
  type Growing,
  type GrowingObject,
} from './growing.js'

/** Some upstreams send indexes as strings. */
export const indexIn = (value: Readonly<Record<string, unknown>>): number | undefined => {
  const index = value['index']
  const number = typeof index === 'string' && /^\d{1,9}$/.test(index) ? Number(index) : index
  return Number.isInteger(number) ? (number as number) : undefined
}

/** The list element that a piece continues; undefined for a new one. */
export const placeOf = (
  list: readonly Growing[],
  piece: JsonObject,
  { key, isFirst }: { readonly key: string; readonly isFirst: boolean },
): number | undefined => {
  if (key === 'tool_calls') return placeOfCall(list, piece, isFirst)
  const index = indexIn(piece)
  if (index !== undefined)
    return lastPlace(list, (known) => indexIn(known) === index && isSameKind(known, piece))
  const known = list.at(-1)
  // Elements of one piece are different elements.
  return isFirst && isGrowingObject(known) && continues(known, piece) ? list.length - 1 : undefined
}

/** Whether a piece without an index continues an element: it adds to its text or list, or signs it. */
const continues = (known: GrowingObject, piece: JsonObject): boolean => {
  if (indexIn(known) !== undefined || kindOf(known) === undefined || kindOf(known) !== kindOf(piece))
    return false
  // A signature ends a block.
  if (hasText(known['signature'])) return false
  const written = Object.keys(known).filter((key) => WRITTEN.has(key))
  const isWritten = written.some((key) => isSameForm(known[key], piece[key]))
  const isSigned = written.length > 0 && textIn(piece, 'signature') !== undefined
  return (
    (isWritten || isSigned) && Object.keys(piece).every((key) => !contradicts(known[key], piece[key], key))
  )
}

const isSameForm = (known: Growing | undefined, piece: Json | undefined): boolean =>
  Array.isArray(piece)
    ? Array.isArray(known)
    : typeof piece === 'string' && (typeof known === 'string' || known instanceof GrowingText)

const contradicts = (known: Growing | undefined, piece: Json | undefined, key: string): boolean => {
  if (WRITTEN.has(key) || known === undefined || known === null || piece === undefined || piece === null)
    return false
  return !isDeepStrictEqual(settled(known), piece)
}

/** The tool call that a piece continues. Upstreams leave out indexes and ids, or repeat them for several calls. */
const placeOfCall = (list: readonly Growing[], piece: JsonObject, isFirst: boolean): number | undefined => {
  const [index, id, name] = [indexIn(piece), textIn(piece, 'id'), calledIn(piece)?.name]
  if (id !== undefined) {
    const same = lastPlace(list, (known) => known['id'] === id)
    if (same !== undefined) return same
  }
  const place =
    index === undefined
      ? lastOf(list, () => isFirst || name === undefined)
      : (lastPlace(list, (known) => indexIn(known) === index && areSameCall(known, piece)) ??
        lastOf(list, (known) => indexIn(known) === undefined && id === undefined && name === undefined))
  const known = place === undefined ? undefined : (list[place] as GrowingObject)
  return known === undefined || startsNext(known, piece) ? undefined : place
}

/** Whether a piece with a name starts another call: with another id, or because the known one is whole. */
const startsNext = (known: GrowingObject, piece: JsonObject): boolean => {
  const [before, next] = [calledIn(known), calledIn(piece)]
  if (!areSameCall(known, piece)) return true
  if (before === undefined || next?.name === undefined) return false
  const [isSameName, isWhole] = [before.name === next.name, isWholeJson(before.called)]
  const [knownId, id] = [textIn(known, 'id'), textIn(piece, 'id')]
  if (id !== undefined && knownId !== undefined)
    return !isSameName || isWhole || !hasText(before.called['arguments'])
  const more = next.called['arguments']
  return isWhole && (!isSameName || (more !== undefined && more !== null && more !== ''))
}

interface Called<O> {
  readonly called: O
  readonly name: string | undefined
}

const calledIn = <O extends GrowingObject | JsonObject>(call: O): Called<O> | undefined => {
  const called = [call['function'], call['custom']].find((one) => isGrowingObject(one as Growing)) as
    O | undefined
  return called && { called, name: textIn(called, 'name') }
}

/** Whether the arguments of a call are a whole JSON object or list. */
export const isWholeJson = (called: GrowingObject): boolean => {
  const { arguments: given } = called
  if (typeof given !== 'string') return given instanceof GrowingText ? given.isJson() : isGrowingObject(given)
  const text = new GrowingText('arguments', given)
  called['arguments'] = text
  return text.isJson()
}

const kindOf = (value: GrowingObject | JsonObject): string | undefined => textIn(value, 'type')

const isSameKind = (known: GrowingObject, piece: JsonObject): boolean => isSame(kindOf(known), kindOf(piece))

/** A call is of the kind that it has the member of, whatever its type says. */
const areSameCall = (known: GrowingObject, piece: JsonObject): boolean =>
  isSame(calledKind(known), calledKind(piece))

const calledKind = (call: GrowingObject | JsonObject): string | undefined =>
  CALLED.find((kind) => isGrowingObject(call[kind] as Growing)) ??
  CALLED.find((kind) => call['type'] === kind)

const CALLED = ['function', 'custom']

const isSame = (before: string | undefined, next: string | undefined): boolean =>
  before === undefined || next === undefined || before === next

const hasText = (value: Growing | undefined): boolean =>
  value instanceof GrowingText || (typeof value === 'string' && value !== '')

const textIn = (value: GrowingObject | JsonObject, key: string): string | undefined => {
  const text = value[key]
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** Only the last elements are searched, so that long lists stay linear. */
const MAX_SEARCHED = 256

const lastPlace = (
  list: readonly Growing[],
  matches: (known: GrowingObject) => boolean,
): number | undefined => {
  for (let place = list.length - 1; place >= Math.max(0, list.length - MAX_SEARCHED); place -= 1) {
    const known = list[place]
    if (isGrowingObject(known) && matches(known)) return place
  }
  return undefined
}

const lastOf = (list: readonly Growing[], matches: (known: GrowingObject) => boolean): number | undefined => {
  const known = list.at(-1)
  return isGrowingObject(known) && matches(known) ? list.length - 1 : undefined
}
