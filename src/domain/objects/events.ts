import type * as t from 'io-ts'
import { arrayOf, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { json, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { EventOf } from '../../kernel/decider.js'
import { textLike } from '../../kernel/codec/text.js'
import { projectId } from '../../kernel/ids.js'
import { spilledFields } from '../../kernel/spill/fields.js'

export const objectId = textLike(
  'object_id',
  /^[^\p{Cc}/:]{1,128}$/u,
  'String should have 1 to 128 characters without control characters, slashes or colons',
)

const ofObject = { project_id: projectId, object_id: objectId }

const ofVersion = {
  ...ofObject,
  /** Digest of the content: 43 letters and digits. */
  digest: string,
  /** Counts an object's versions from 0. Content published again keeps its number. */
  version_index: wholeNumber,
}

const byUser = { wb_user_id: nullableText(string) }

export const objectPublished = open('ObjectPublished', {
  says: 'A version of an object was created. The same content under the same name is the same version.',
  required: { ...ofVersion, kind: oneOf('op', 'object'), created_at: instant },
  optional: {
    base_object_class: nullableText(string),
    leaf_object_class: nullableText(string),
    /** Null if spilled. */
    val: withDefault(json, null),
    spilled: spilledFields,
    ...byUser,
  },
})
export type ObjectPublished = t.TypeOf<typeof objectPublished>

const objectDeleted = open('ObjectDeleted', {
  says: 'A version of an object was deleted. Publishing the same content again restores it.',
  required: { ...ofVersion, deleted_at: instant },
  optional: byUser,
})

const objectTagsAdded = open('ObjectTagsAdded', {
  says: 'Tags were added to a version of an object.',
  required: { ...ofVersion, tags: arrayOf(string) },
  optional: byUser,
})

const objectTagsRemoved = open('ObjectTagsRemoved', {
  says: 'Tags were removed from a version of an object. Deleting a version removes all its tags.',
  required: { ...ofVersion, tags: arrayOf(string) },
  optional: byUser,
})

const objectAliasesSet = open('ObjectAliasesSet', {
  says: 'Aliases of an object were pointed at this version, replacing earlier targets.',
  required: { ...ofVersion, aliases: arrayOf(string) },
  optional: byUser,
})

const objectAliasesRemoved = open('ObjectAliasesRemoved', {
  says: 'Aliases of an object were removed. Deleting a version removes the aliases that point at it.',
  required: { ...ofObject, aliases: arrayOf(string) },
  optional: byUser,
})

export const objectEvents = {
  ObjectPublished: objectPublished,
  ObjectDeleted: objectDeleted,
  ObjectTagsAdded: objectTagsAdded,
  ObjectTagsRemoved: objectTagsRemoved,
  ObjectAliasesSet: objectAliasesSet,
  ObjectAliasesRemoved: objectAliasesRemoved,
}

export type ObjectEvent = EventOf<typeof objectEvents>

export const objectStream = (projectId: string, objectId: string): string => `object-${projectId}/${objectId}`
