import { digitsIn } from '../../kernel/json/digits.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { parseRef, type Edge, type Ref } from './ref.js'

/** The result of a walk: a value, nothing, or another reference to follow. */
export type WalkResult =
  | { readonly kind: 'value'; readonly value: Json; readonly digits?: string }
  | { readonly kind: 'nowhere' }
  | { readonly kind: 'onwards'; readonly ref: Ref }

const NOWHERE: WalkResult = { kind: 'nowhere' }

/** Follows edges into a value. A reference is followed while edges are left; at the end it is the value. */
export const walk = (value: Json, edges: readonly Edge[]): WalkResult => {
  let reached = value
  let digits: string | undefined
  for (const [at, edge] of edges.entries()) {
    if (typeof reached === 'string') return onwards(reached, edges.slice(at))
    const next = step(reached, edge)
    if (next === undefined) return NOWHERE
    digits = digitsIn(reached as object, edge.value)
    reached = next
  }
  return { kind: 'value', value: reached, ...(digits !== undefined && { digits }) }
}

const onwards = (text: string, left: readonly Edge[]): WalkResult => {
  const ref = parseRef(text)
  return ref === undefined ? NOWHERE : { kind: 'onwards', ref: { ...ref, edges: [...ref.edges, ...left] } }
}

const step = (value: Json, { kind, value: name }: Edge): Json | undefined => {
  if (kind === 'index') return isList(value) && isIndex(name) ? value[Number(name)] : undefined
  if (kind === 'id' || !isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
  return value[name]
}

export const isIndex = (text: string): boolean => /^\d{1,15}$/.test(text)

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
