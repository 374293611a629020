import type * as t from 'io-ts'
import { nullable, nullableText, withDefault } from '../codec/containers.js'
import { int64, json, oneOf, string } from '../codec/leaves.js'
import { open } from '../codec/struct.js'
import { textLike } from '../codec/text.js'
import { projectId } from '../ids.js'

export const objectId = textLike(
  'object_id',
  // eslint-disable-next-line no-control-regex -- control characters are what this pattern is about
  /^[^\u0000-\u001f\u007f/:]{1,128}$/,
  'String should have 1 to 128 characters, none of them a control character, a slash or a colon',
)

const blob = open('ValueBlob', { required: { digest: string, size: int64 } })

export const objectPublished = open('ObjectPublished', {
  says: 'A version of an object was published. The same content under the same name is the same version.',
  required: {
    project_id: projectId,
    object_id: objectId,
    /** The content's digest: 43 letters and digits. */
    digest: string,
    version_index: int64,
    kind: oneOf('op', 'object'),
  },
  optional: {
    base_object_class: nullableText(string),
    leaf_object_class: nullableText(string),
    /** The content; null where it is too large for an event and lies in `val_blob`. */
    val: withDefault(json, null),
    val_blob: nullable(blob),
    wb_user_id: nullableText(string),
  },
})

export const objectEvents = { ObjectPublished: objectPublished }

export interface ObjectEvent {
  readonly type: 'ObjectPublished'
  readonly data: t.TypeOf<typeof objectPublished>
}

export const objectStream = (projectId: string, objectId: string): string => `object-${projectId}/${objectId}`
