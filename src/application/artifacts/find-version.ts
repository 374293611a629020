import { collectionStream, type CollectionPlace } from '../../domain/artifacts/place.js'
import type { CollectionState, KnownVersion } from '../../domain/artifacts/state.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Collections } from './collections.js'
import { storedVersions, withAliases, type StoredVersion } from './stored-versions.js'

/** A version of a collection that exists, with the event that made it. */
export const findVersion = async (
  ports: Pick<Ports, 'eventStore'>,
  { stateOf }: Pick<Collections, 'stateOf'>,
  place: CollectionPlace,
  choose: (state: CollectionState) => KnownVersion | undefined,
): Promise<StoredVersion | undefined> => {
  const stream = collectionStream(place)
  const found = await stateOf(stream, ({ state }) => {
    const known = choose(state)
    return known === undefined || known.gone ? [] : withAliases(state, [known])
  })
  const [version] = await storedVersions(ports, stream, found)
  return version
}

export const versionWithId =
  (artifactId: string) =>
  ({ byId, versions }: CollectionState): KnownVersion | undefined =>
    versions.get(byId.get(artifactId) ?? -1)
