import type { Described } from '../../domain/artifacts/commands.js'
import { projectOfPlace } from '../../domain/artifacts/place.js'
import { versionName } from '../../domain/artifacts/version-name.js'
import { linksOf, type ArtifactPlace } from './artifacts.js'
import type { Caller } from './caller.js'

export interface VersionChange {
  /** Null keeps a value. */
  readonly described?: { readonly [Member in keyof Described]: Described[Member] | null }
  readonly tagsToAdd: readonly string[]
  readonly tagsToDelete: readonly string[]
}

/** Metadata and tags belong to the artifact: its links have them too, for the automations of registries. */
export const changeLinks = async (
  caller: Caller,
  { place, artifact }: ArtifactPlace,
  { described, tagsToAdd, tagsToDelete }: VersionChange,
): Promise<void> => {
  for (const link of await linksOf(caller, place, artifact)) {
    const of = { place: link.place, version: versionName(link.version.known.version) }
    const known = link.version.described
    for (const command of [
      ...(described === undefined ? [] : [{ type: 'DescribeVersion', ...of, known, ...described } as const]),
      ...tagsToAdd.map((tag) => ({ type: 'AddTag', ...of, tag }) as const),
      ...tagsToDelete.map((tag) => ({ type: 'RemoveTag', ...of, tag }) as const),
    ]) {
      const written = await caller.collections.writeRegistered(command, caller.cause)
      caller.wrote(projectOfPlace(link.place), written.readableAt)
    }
  }
}
