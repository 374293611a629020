import { canonicalJson } from '../../kernel/json/canonical.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { weaveDigest } from '../objects/weave-digest.js'

/** A row's digest (of its JSON with sorted keys) and its JSON text. */
export const digestedRow = (sha256: Sha256, row: JsonObject) => {
  const text = jsonText(row)
  const canonical = isSorted(row) ? text : canonicalJson(row)
  return { digest: weaveDigest(sha256(canonical)), text, canonical }
}

export const tableDigest = (sha256: Sha256, rowDigests: readonly string[]): string =>
  weaveDigest(sha256(rowDigests.join('')))

/** Most rows have their keys already sorted; then both texts are the same. */
const isSorted = (value: Json): boolean => {
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && !isSorted(item as Json)) return false
    return true
  }
  if (!isJsonObject(value)) return true
  let before: string | undefined
  for (const key in value) {
    if (before !== undefined && before > key) return false
    before = key
    const member = value[key]!
    if (typeof member === 'object' && !isSorted(member)) return false
  }
  return true
}
