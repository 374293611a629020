import type { JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { contentDigest } from '../objects/weave-digest.js'

/** A row's digest and its JSON text. */
export const digestedRow = (sha256: Sha256, row: JsonObject) => ({
  digest: contentDigest(sha256, row),
  text: jsonText(row),
})

/** The digest of a table from those of its rows, in order: hexadecimal, other than those of rows. */
export const tableDigest = (sha256: Sha256, rowDigests: readonly string[]): string =>
  sha256(rowDigests.join(''))
