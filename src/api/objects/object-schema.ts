import { arrayOf, nullable, nullableText } from '../../domain/codec/containers.js'
import { instant } from '../../domain/codec/instant.js'
import { int64, json, oneOf, string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { projectId } from '../../domain/ids.js'

/** The OpenAPI schema of what `objectJson` writes. */
export const objectSchema = open('Object', {
  required: {
    project_id: projectId,
    object_id: string,
    created_at: instant,
    digest: string,
    version_index: int64,
    is_latest: int64,
    kind: oneOf('op', 'object'),
    base_object_class: nullableText(string),
    val: json,
  },
  optional: {
    deleted_at: nullable(instant),
    leaf_object_class: nullableText(string),
    wb_user_id: nullableText(string),
    size_bytes: nullable(int64),
    tags: nullable(arrayOf(string)),
    aliases: nullable(arrayOf(string)),
  },
})
