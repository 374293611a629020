import type { JsonObject } from '../../kernel/json/json.js'
import { jsonBytesAtMost } from '../../kernel/json/measure.js'
import { jsonTextInSteps } from '../../kernel/json/text-in-steps.js'
import { jsonText } from '../../kernel/json/text.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import { contentDigest, contentDigestInSteps } from '../objects/weave-digest.js'

/** A row's digest and its JSON text. */
export const digestedRow = async (sha256: Sha256, row: JsonObject) =>
  jsonBytesAtMost(row, LARGE_BYTES) > LARGE_BYTES
    ? { digest: await contentDigestInSteps(sha256, row), text: await jsonTextInSteps(row) }
    : { digest: contentDigest(sha256, row), text: jsonText(row) }

/** Larger rows are written in steps. */
const LARGE_BYTES = 256 * 1024

/** The digest of a table from those of its rows, in order: hexadecimal, other than those of rows. */
export const tableDigest = (sha256: Sha256, rowDigests: readonly string[]): string =>
  sha256(rowDigests.join(''))
