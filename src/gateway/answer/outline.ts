import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { BufferedText, type SpoolRange } from './buffered-text.js'

/** JSON in which some strings and lists are buffered texts. */
export type Outline = Json | BufferedText | readonly Outline[] | { readonly [key: string]: Outline }

/** The value, with the head of each buffered text. */
export const headOf = (outline: Outline): Json => {
  if (outline instanceof BufferedText) return outline.headValue()
  if (Array.isArray(outline)) return outline.map((item: Outline) => headOf(item))
  if (!isMembers(outline)) return outline as Json
  return Object.fromEntries(Object.entries(outline).map(([key, member]) => [key, headOf(member)]))
}

/** Canonical JSON text: the parts in memory, and the spooled ranges between them. */
export function* jsonParts(outline: Outline): Generator<string | SpoolRange> {
  if (outline instanceof BufferedText) yield* outline.jsonParts()
  else if (Array.isArray(outline)) {
    let before = '['
    for (const item of outline as readonly Outline[]) {
      yield before
      yield* jsonParts(item)
      before = ','
    }
    yield outline.length === 0 ? '[]' : ']'
  } else if (isMembers(outline)) {
    let before = '{'
    for (const key of Object.keys(outline).sort()) {
      yield `${before}${JSON.stringify(key)}:`
      yield* jsonParts(outline[key]!)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  } else yield JSON.stringify(outline)
}

const isMembers = (outline: Outline): outline is { readonly [key: string]: Outline } => isJsonObject(outline)
