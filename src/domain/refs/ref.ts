import { projectId as projectIdCodec } from '../../kernel/ids.js'
import { digitsIn } from '../../kernel/json/digits.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'

/** One step into a value: an object member, a list item, or a table row by its digest. */
export interface Edge {
  readonly kind: 'attr' | 'key' | 'index' | 'id'
  readonly value: string
}

/** The referenced thing and the path into it. */
export type Ref = { readonly projectId: string; readonly edges: readonly Edge[] } & Target

type Target =
  | { readonly kind: 'object'; readonly objectId: string; readonly version: string }
  | { readonly kind: 'table'; readonly digest: string }
  | { readonly kind: 'call'; readonly id: string }

export const REF_SCHEME = 'weave:///'
const EDGE_KINDS = new Set<string>(['attr', 'key', 'index', 'id'])

export const callRef = (projectId: string, id: string): string => `${REF_SCHEME}${projectId}/call/${id}`

export const tableRef = (projectId: string, digest: string): string =>
  `${REF_SCHEME}${projectId}/table/${digest}`

export const versionRef = (projectId: string, kind: 'op' | 'object', id: string, digest: string): string =>
  `${REF_SCHEME}${projectId}/${kind}/${id}:${digest}`

/**
 * Parses `weave:///entity/project/<op|object|table|call>/<name>[:<version>][/<edge>/<value>…]` with percent-encoded
 * edge values; undefined for anything else.
 */
export const parseRef = (text: string): Ref | undefined => {
  if (!text.startsWith(REF_SCHEME)) return undefined
  const [entity, project, kind, named, ...way] = text.slice(REF_SCHEME.length).split('/')
  const projectId = `${entity}/${project}`
  const target = targetOf(kind, named)
  const edges = edgesOf(way)
  if (target === undefined || edges === undefined || !projectIdCodec.is(projectId)) return undefined
  return { projectId, edges, ...target }
}

/** Whether a reference is written as one to an op, which `parseRef` reads as an object. */
export const isOpRef = (text: string): boolean =>
  parseRef(text)?.kind === 'object' && text.slice(REF_SCHEME.length).split('/', 3)[2] === 'op'

const targetOf = (kind: string | undefined, named: string | undefined): Target | undefined => {
  if (named === undefined || named === '') return undefined
  if (kind === 'table') return { kind, digest: named }
  if (kind === 'call') return { kind, id: named }
  if (kind !== 'object' && kind !== 'op') return undefined
  const colon = named.lastIndexOf(':')
  if (colon <= 0 || colon === named.length - 1) return undefined
  return { kind: 'object', objectId: named.slice(0, colon), version: named.slice(colon + 1) }
}

const edgesOf = (way: readonly string[]): readonly Edge[] | undefined => {
  if (way.length % 2 !== 0) return undefined
  const edges: Edge[] = []
  for (let at = 0; at < way.length; at += 2) {
    const kind = way[at]!
    if (!EDGE_KINDS.has(kind)) return undefined
    edges.push({ kind: kind as Edge['kind'], value: decoded(way[at + 1]!) })
  }
  return edges
}

/** An invalid percent sequence is taken literally. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The result of a walk: a value, nothing, or another reference to follow. */
type WalkResult =
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
