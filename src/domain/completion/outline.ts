import { isJsonObject, type Json } from '../json/json.js'
import { KeptText, type Run } from './kept-text.js'

/** JSON in which some strings and lists are kept as texts. */
export type Outline = Json | KeptText | readonly Outline[] | { readonly [key: string]: Outline }

/** As a value, with no more of each text than its beginning. */
export const begunOf = (outline: Outline): Json => {
  if (outline instanceof KeptText) return outline.begun()
  if (Array.isArray(outline)) return outline.map((item: Outline) => begunOf(item))
  if (!isMembers(outline)) return outline as Json
  return Object.fromEntries(Object.entries(outline).map(([key, member]) => [key, begunOf(member)]))
}

/** As canonical JSON text, in order: what is in memory, and the runs in the spool between. */
export function* writtenOf(outline: Outline): Generator<string | Run> {
  if (outline instanceof KeptText) yield* outline.written()
  else if (Array.isArray(outline)) {
    let before = '['
    for (const item of outline as readonly Outline[]) {
      yield before
      yield* writtenOf(item)
      before = ','
    }
    yield outline.length === 0 ? '[]' : ']'
  } else if (isMembers(outline)) {
    let before = '{'
    for (const key of Object.keys(outline).sort()) {
      yield `${before}${JSON.stringify(key)}:`
      yield* writtenOf(outline[key]!)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  } else yield JSON.stringify(outline)
}

const isMembers = (outline: Outline): outline is { readonly [key: string]: Outline } => isJsonObject(outline)
