import * as t from 'io-ts'
import { Codec, gather, refuse } from '../../kernel/codec/codec.js'
import { jsonObject } from '../../kernel/codec/leaves.js'
import { canonicalJson } from '../../kernel/json/canonical.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { isLargerThan } from '../../kernel/json/measure.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'
import type { ArtifactFile } from './events.js'

const MAX_VALUE_BYTES = 16_384
const MAX_BYTES = 262_144

const TYPE = 'value_error'
const atMost = (bytes: number): string => `Value should have at most ${bytes} bytes as JSON`

/** The metadata of a version. Its size is limited because messages repeat its values. */
export const versionMetadata: Codec<JsonObject> = new Codec<JsonObject>(
  'metadata',
  (u): u is JsonObject => jsonObject.is(u) && isWithinBounds(u),
  (u, c) => {
    if (!jsonObject.is(u)) return jsonObject.validate(u, c)
    if (isWithinBounds(u)) return t.success(u)
    const errors: t.ValidationError[] = []
    for (const [key, value] of Object.entries(u))
      if (isLargerThan(MAX_VALUE_BYTES, value) && !gather(errors, tooLarge(key, value, c))) break
    return errors.length > 0 ? t.failures(errors) : refuse(u, c, TYPE, atMost(MAX_BYTES))
  },
  { ...jsonObject.schema, description: `${atMost(MAX_BYTES)}, each value ${MAX_VALUE_BYTES}` },
)

const isWithinBounds = (metadata: JsonObject): boolean =>
  !isLargerThan(MAX_BYTES, metadata) &&
  Object.values(metadata).every((value) => !isLargerThan(MAX_VALUE_BYTES, value))

const tooLarge = (key: string, value: Json, context: t.Context): t.Errors => [
  {
    value,
    context: t.appendContext(context, key, jsonObject, value),
    message: `${TYPE}: ${atMost(MAX_VALUE_BYTES)}`,
  },
]

interface Content {
  readonly artifactType: string | null
  readonly metadata: JsonObject
  readonly files: readonly ArtifactFile[] | null
}

/** The SHA-256 of a version's content in hexadecimal: equal for equal content. */
export const contentDigest = (sha256: Sha256, { artifactType, metadata, files }: Content): string =>
  sha256(canonicalJson({ type: artifactType, metadata, files: byPath(files ?? []) }))

/** Sorts, since the order of files does not matter. */
const byPath = (files: readonly ArtifactFile[]): readonly JsonObject[] =>
  [...files]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, digest, size }) => ({ path, digest, size }))
