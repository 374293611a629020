import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../kernel/json/measure.js'
import { parseJson } from '../../kernel/json/parse.js'
import { wellFormedOf } from '../../kernel/json/well-formed.js'
import { NAMES, type Field } from './conventions.js'
import type { Span } from './span.js'

/** Leaves room for the messages around a value. */
const MOST_LEVELS = MAX_DEPTH - 32

/** The value of a JSON text; the text itself if it is none, for instance because it was truncated. */
export const parsed = (text: string): Json => {
  try {
    const value = wellFormedOf(text, parseJson(text))
    return deeperThan(value, MOST_LEVELS) ? text : value
  } catch {
    return text
  }
}

const MAY_BE_ENCODED = /^\s*["[{]/

/** Some exporters encode objects, lists and texts as JSON. A number or a literal may be plain text. */
export const decoded = (value: Json): Json =>
  typeof value === 'string' && MAY_BE_ENCODED.test(value) ? parsed(value) : value

/** A member that is there; undefined if it is null, or nested too deep to write. */
export const valueIn = (holder: JsonObject, name: string): Json | undefined => {
  const value = holder[name]
  return value === undefined ||
    value === null ||
    (typeof value === 'object' && deeperThan(value, MOST_LEVELS))
    ? undefined
    : value
}

export const decodedIn = (holder: JsonObject, name: string): Json | undefined => {
  const value = valueIn(holder, name)
  return value === undefined ? undefined : decoded(value)
}

/** A text that is not empty. */
export const textOf = (value: Json | undefined): string | undefined => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return undefined
  const text = value.startsWith('"') ? parsed(value) : value
  return typeof text === 'string' && text !== '' ? text : undefined
}

export const listOf = (value: Json | undefined): readonly Json[] => {
  const list = value === undefined ? undefined : decoded(value)
  return Array.isArray(list) ? (list as readonly Json[]) : []
}

export const objectOf = (value: Json | undefined): JsonObject | undefined => {
  const object = value === undefined ? undefined : decoded(value)
  return isJsonObject(object) ? object : undefined
}

/** The first of some candidates that a reader understands. */
export const firstOf = <A, B>(all: readonly A[], read: (one: A) => B | undefined): B | undefined => {
  for (const one of all) {
    const value = read(one)
    if (value !== undefined) return value
  }
  return undefined
}

export const textIn = (holder: JsonObject, names: readonly string[]): string | undefined =>
  firstOf(names, (name) => textOf(holder[name]))

/** What meaning is read from. */
export interface SpanView {
  readonly span: Span
  readonly attributes: JsonObject
  /** Of attributes that are no source of a field. */
  readonly keys: readonly string[]
  /** Those of which an attribute is there. Most spans have few, which saves looking for all names of the others. */
  readonly fields: ReadonlySet<Field>
}

const FIELDS_BY_NAME = new Map<string, Field[]>()
for (const [field, names] of Object.entries(NAMES))
  for (const name of names) FIELDS_BY_NAME.set(name, [...(FIELDS_BY_NAME.get(name) ?? []), field as Field])

export const viewOf = (span: Span, attributes = span.attributes): SpanView => {
  const keys: string[] = []
  const fields = new Set<Field>()
  for (const key of Object.keys(attributes)) {
    const sourceOf = FIELDS_BY_NAME.get(key)
    if (sourceOf === undefined) keys.push(key)
    else for (const field of sourceOf) fields.add(field)
  }
  return { span, attributes, keys, fields }
}

export const textOfField = ({ attributes, fields }: SpanView, field: Field): string | undefined =>
  fields.has(field) ? textIn(attributes, NAMES[field]) : undefined

/** The attributes whose keys begin with a prefix, by the rest of their keys. */
export const under = (
  { attributes, keys }: SpanView,
  prefix: string,
): readonly (readonly [string, Json])[] => {
  const found: (readonly [string, Json])[] = []
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue
    const value = valueIn(attributes, key)
    if (value !== undefined) found.push([key.slice(prefix.length), value])
  }
  return found
}

/** The value that was flattened into attributes with numbers and names in their keys, `0.role`, `0.content`. */
export const indexed = (view: SpanView, prefix: string): readonly Json[] | undefined => {
  const value = nested(under(view, prefix), MOST_SEGMENTS)
  return Array.isArray(value) && value.length > 0 ? (value as readonly Json[]) : undefined
}

const MOST_SEGMENTS = 12

const nested = (entries: readonly (readonly [string, Json])[], levels: number): Json => {
  if (levels === 0) return Object.fromEntries(entries)
  const groups = new Map<string, (readonly [string, Json])[]>()
  for (const [key, value] of entries) {
    const dot = key.indexOf('.')
    const head = dot < 0 ? key : key.slice(0, dot)
    const group = groups.get(head) ?? []
    if (group.length === 0) groups.set(head, group)
    group.push([dot < 0 ? '' : key.slice(dot + 1), value])
  }
  const members = [...groups].map(([head, group]) => {
    const isLeaf = group.length === 1 && group[0]![0] === ''
    const parts = isLeaf ? group : group.filter(([rest]) => rest !== '')
    return [head, isLeaf ? group[0]![1] : nested(parts, levels - 1)] as const
  })
  return members.every(([head]) => /^\d+$/.test(head))
    ? members.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value)
    : Object.fromEntries(members)
}
