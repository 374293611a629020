import type * as t from 'io-ts'
import { versionMetadata } from '../../domain/artifacts/content.js'
import { alias, artifactFile, artifactType, tag } from '../../domain/artifacts/events.js'
import { arrayOf, nullable, nullableText } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, jsonObject, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import { addressable, id } from '../../kernel/ids.js'
import { filePath } from '../../domain/files/path.js'

const newFile = closed('NewArtifactFile', {
  required: { path: filePath, digest: textUpToBytes(256), size: wholeNumber },
})

export const newVersion = closed('NewArtifactVersion', {
  optional: {
    type: nullableText(artifactType),
    metadata: nullable(versionMetadata),
    aliases: nullable(arrayOf(addressable(alias))),
    files: nullable(arrayOf(newFile)),
  },
})
export type NewVersion = t.TypeOf<typeof newVersion>

/** `version` is a name such as `v0`. */
export const createdVersion = open('CreatedArtifactVersion', {
  required: { version: string, artifact_id: id, digest: string },
})

export const artifactVersion = open('ArtifactVersion', {
  says:
    '`files` are the files in the request that created the version. Files uploaded by the package `wandb` are only counted, in ' +
    '`file_count`, with their total `size` in bytes. `run_id` is the run that logged it.',
  required: {
    version: string,
    artifact_id: id,
    digest: string,
    type: nullable(string),
    metadata: jsonObject,
    description: nullable(string),
    files: arrayOf(artifactFile),
    file_count: int64,
    size: int64,
    run_id: nullable(string),
    aliases: arrayOf(string),
    tags: arrayOf(string),
    created_at: instant,
    created_by: string,
  },
})

export const newAlias = closed('NewAlias', { required: { alias: addressable(alias) } })
export const newTag = closed('NewTag', { required: { tag: addressable(tag) } })

/** `version` is the name of the labelled version, also when the request named it by an alias. */
export const labelledVersion = open('LabelledVersion', { required: { version: string } })
