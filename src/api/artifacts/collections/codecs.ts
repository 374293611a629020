import { collectionName } from '../../../domain/artifacts/place.js'
import { registryName, addressable, id, teamName } from '../../../kernel/ids.js'
import { arrayOf, nullable } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { jsonObject, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { textLike } from '../../../kernel/codec/text.js'

export const newRegistry = closed('NewRegistry', {
  required: { name: addressable(registryName), team: teamName },
})

export const registry = open('Registry', { required: { id, name: registryName, team: teamName } })

const projectName = textLike(
  'project',
  /^[A-Za-z0-9._-]{1,128}$/,
  'String should have 1 to 128 letters, digits, dots, underscores or hyphens',
)

/** `version` is a name such as `v3`, or an alias, in the project's collection. */
export const newLink = closed('NewLink', {
  required: { entity: teamName, project: projectName, collection: collectionName, version: string },
})

/** `version` is the name in the registry, starting at `v0`. */
export const linkedVersion = open('LinkedVersion', { required: { version: string, artifact_id: id } })

const versionSource = open('VersionSource', {
  required: { entity: teamName, project: projectName, collection: collectionName, version: string },
})

export const registeredVersion = open('RegisteredVersion', {
  required: {
    version: string,
    source: versionSource,
    artifact_id: id,
    type: nullable(string),
    metadata: jsonObject,
    aliases: arrayOf(string),
    tags: arrayOf(string),
    linked_at: instant,
    linked_by: string,
  },
})
