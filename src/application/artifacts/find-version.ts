import { collectionStream, type CollectionPlace } from '../../domain/artifacts/place.js'
import type { CollectionState, KnownVersion } from '../../domain/artifacts/state.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Collections } from './collections.js'
import { storedVersions, withAliases, type StoredVersion } from './stored-versions.js'

/** A version of a collection that exists, with the event that made it. */
export const findVersion = async (
  ports: Pick<Ports, 'eventStore'>,
  { read }: Pick<Collections, 'read'>,
  place: CollectionPlace,
  choose: (state: CollectionState) => KnownVersion | undefined,
): Promise<StoredVersion | undefined> => {
  const state = await read(place)
  const known = choose(state)
  if (known === undefined || known.gone) return undefined
  const [version] = await storedVersions(ports, collectionStream(place), withAliases(state, [known]))
  return version
}

export const versionWithId =
  (artifactId: string) =>
  ({ byId, versions }: CollectionState): KnownVersion | undefined =>
    versions.get(byId.get(artifactId) ?? -1)
