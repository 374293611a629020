import { collectionStream, projectOfPlace, type CollectionPlace } from '../../domain/artifacts/place.js'
import type { CollectionState, KnownVersion } from '../../domain/artifacts/state.js'
import { versionName } from '../../domain/artifacts/version-name.js'
import { storedVersions, withAliases } from '../../application/artifacts/stored-versions.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { collectionsOf } from '../../projections/artifacts/queries.js'
import { typeOf } from './artifact-types.js'
import { artifactNamed, artifactOf, collectionId, membershipNamed, sourceOf } from './artifacts.js'
import { canSeeProject, caughtUp, connectionOf, type Caller, type PageOf } from './caller.js'
import { partsOfId } from './ids.js'
import { placeIn } from './places.js'

/** The collection of an id that the caller may see. */
export const collectionOfId = (caller: Caller, id: string): CollectionPlace | undefined => {
  const [project, collection] = partsOfId('Collection', id) ?? []
  if (project === undefined || collection === undefined || !canSeeProject(caller, project)) return undefined
  return placeIn(project, collection)
}

/** Null if there is no such collection. */
export const collectionNamed = async (caller: Caller, project: string, collection: string) => {
  const place = placeIn(project, collection)
  if (place === undefined) return null
  return (await caller.collections.read(place)).live > 0 ? collectionOf(caller, place) : null
}

/** A collection, which may have drafts alone. */
export const collectionOf = async (caller: Caller, place: CollectionPlace) => {
  const stream = collectionStream(place)
  const project = projectOfPlace(place)
  const first = await caller.collections.first(place)
  const { description, tags, type } = await caller.collections.read(place)
  const createdAt = instantOf(first?.recordedAt ?? caller.services.clock.now())
  const versionsBy = async (choose: (state: CollectionState) => readonly KnownVersion[]) => {
    const state = await caller.collections.read(place)
    return withAliases(state, choose(state))
  }
  return {
    __typename: place.registry === null ? 'ArtifactSequence' : 'ArtifactPortfolio',
    id: collectionId(place),
    name: place.collection,
    description,
    createdAt,
    updatedAt: createdAt,
    project: () => caller.nodes.project(caller, project),
    defaultArtifactType: () =>
      typeOf(caller, project, type ?? ((first?.data['type'] ?? null) as string | null)),
    tags: { edges: tags.map((name) => ({ node: { id: name, name } })) },
    state: 'READY',
    aliases: async (page: PageOf) => {
      const { aliases: all } = await caller.collections.read(place)
      const aliases = [...all].flatMap(([alias, version]) => (version === null ? [] : [alias])).sort()
      return connectionOf(caller, aliases, page, String, (alias) => ({ id: alias, alias }))
    },
    artifacts: async (page: PageOf) => {
      const versions = await versionsBy(({ versions }) =>
        [...versions.values()].filter(({ gone }) => !gone).reverse(),
      )
      const connection = connectionOf(
        caller,
        versions,
        page,
        ({ known }) => String(known.version),
        (one) => one,
      )
      const stored = await storedVersions(
        caller.services,
        stream,
        connection.edges.map(({ node }) => node),
      )
      const nodes = await Promise.all(stored.map((version) => sourceOf(caller, { place, version })))
      return {
        ...connection,
        edges: connection.edges
          .slice(0, nodes.length)
          .map(({ node, cursor }, at) => ({
            cursor,
            version: versionName(node.known.version),
            node: nodes[at] === undefined ? null : artifactOf(caller, nodes[at]),
          })),
      }
    },
    artifactMembership: ({ aliasName }: { readonly aliasName: string }) =>
      membershipNamed(caller, project, `${place.collection}:${aliasName}`),
    latestArtifact: () => artifactNamed(caller, project, place.collection),
  }
}

/** Collections of a project, of one type or of all. */
export const collectionsIn = async (caller: Caller, project: string, type: string | null, page: PageOf) => {
  const found = await collectionsOf(await caughtUp(caller, project))(project, type)
  return connectionOf(
    caller,
    found,
    page,
    ({ collection }) => collection,
    ({ collection }) =>
      () =>
        collectionNamed(caller, project, collection),
  )
}
