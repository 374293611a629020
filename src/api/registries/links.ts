import type { VersionCreated, VersionLinked } from '../../domain/artifact/events.js'
import { collectionStream, type CollectionPlace } from '../../domain/artifact/place.js'
import { versionName } from '../../domain/artifact/version-name.js'
import { instantOf } from '../../domain/codec/instant.js'
import { open } from '../../domain/codec/struct.js'
import { entityOf } from '../../domain/ids.js'
import { repeatableId } from '../access/idempotency.js'
import { pageFields, pageOf } from '../access/page.js'
import type { Access } from '../auth/access.js'
import type { Artifacts } from '../artifacts/versions.js'
import { collectionInPath, placeInProject } from '../artifacts/place.js'
import type { StoredVersion } from '../artifacts/stored-versions.js'
import { listVersions, readVersion } from '../artifacts/version-list.js'
import { readsLog, writesProject } from '../conduct.js'
import { nothingToSay } from '../nothing-to-say.js'
import { requireReading } from '../projects/access.js'
import { route, type AnyRoute, type Asked } from '../route.js'
import { linkedVersion, newLink, registeredVersion } from './codecs.js'
import { findRegistry, teamFields, teamQuery, type Registries } from './find.js'

export interface Linking extends Artifacts, Registries {
  readonly access: Pick<Access, 'directory'>
}

export const REGISTERED = '/api/registries/:registry/:collection'

/** Where a registry's name may mean several. */
export const ofSeveral = ['invalid', 'conflict'] as const

/** The collection of a registry that a path names, for a member of its team. */
export const registeredPlace = async (parts: Registries, asked: Asked<unknown>): Promise<CollectionPlace> => {
  const { team, registry } = await findRegistry(parts, asked)
  return { team, registry, collection: collectionInPath(asked), project_id: null }
}

/** What a registry's collections show. */
export const linkRoutes = (parts: Linking): readonly AnyRoute[] => {
  const { ports, teams, reading, collections } = parts
  const versions = { ports, stateOf: collections.stateOf }

  return [
    route({
      method: 'post',
      path: `${REGISTERED}/links`,
      summary:
        "Links a version of a project to a registry's collection, which numbers it; one that is linked there keeps its " +
        'number. Needs membership in both teams.',
      body: newLink,
      query: teamQuery,
      ...writesProject,
      fails: [...writesProject.fails, ...ofSeveral],
      takes: ['Idempotency-Key'],
      answer: linkedVersion,
      handle: async (asked) => {
        const place = await registeredPlace(parts, asked)
        const link_id = linkId(ports, asked, place)
        const { entity, project, collection, version } = asked.body
        const project_id = `${entity}/${project}`
        requireReading(teams, asked.principal, project_id)
        const { known, event } = await readVersion(versions)(placeInProject(project_id, collection), version)
        const { artifact_id, type: artifactType, metadata } = event.data as unknown as VersionCreated
        const source = { project_id, collection, version: known.version, artifact_id }
        const { state, position } = await collections.writeRegistered(
          { type: 'LinkVersion', place, source, artifactType, metadata, link_id },
          asked.cause,
        )
        const number =
          (link_id === null ? undefined : state.byLink.get(link_id)) ?? state.byId.get(artifact_id)!
        return { body: { version: versionName(number), artifact_id }, position }
      },
    }),
    route({
      method: 'delete',
      path: `${REGISTERED}/links/:version`,
      summary:
        'Takes a version out of a registry, by the name that it has there or an alias. Its aliases go with it.',
      query: teamQuery,
      ...writesProject,
      fails: [...writesProject.fails, ...ofSeveral],
      answer: nothingToSay,
      handle: async (asked) => {
        const place = await registeredPlace(parts, asked)
        const version = asked.params['version']!
        const { position } = await collections.writeRegistered(
          { type: 'UnlinkVersion', place, version },
          asked.cause,
        )
        return { body: {}, position }
      },
    }),
    route({
      method: 'get',
      path: `${REGISTERED}/versions`,
      summary: "Lists the versions that a registry's collection shows, by their numbers there.",
      query: open('RegisteredVersions', { optional: { ...teamFields, ...pageFields } }),
      ...readsLog,
      fails: [...readsLog.fails, 'conflict'],
      answer: pageOf(registeredVersion),
      handle: async (asked) => {
        const place = await registeredPlace(parts, asked)
        const position = await reading.inLog(asked.headers)
        return { body: await listVersions(versions)(place, asked.query, shown), position }
      },
    }),
    route({
      method: 'get',
      path: `${REGISTERED}/versions/:version`,
      summary: 'Reads a version by the name that it has in the registry, such as v0, or by an alias.',
      query: teamQuery,
      ...readsLog,
      fails: [...readsLog.fails, 'conflict'],
      answer: registeredVersion,
      handle: async (asked) => {
        const place = await registeredPlace(parts, asked)
        const position = await reading.inLog(asked.headers)
        return { body: shown(await readVersion(versions)(place, asked.params['version']!)), position }
      },
    }),
  ]
}

/** A repeat can only be told under an `Idempotency-Key`, which speaks of one collection. */
const linkId = (ports: Linking['ports'], { headers, principal }: Asked<unknown>, place: CollectionPlace) => {
  const key = headers['idempotency-key']
  return key === undefined
    ? null
    : repeatableId(ports, `${principal.userId}\n${collectionStream(place)}`, key)
}

const shown = ({ known, event, aliases }: StoredVersion) => {
  const { source, type, metadata } = event.data as unknown as VersionLinked
  const { project_id, collection, version, artifact_id } = source
  const entity = entityOf(project_id)
  return {
    version: versionName(known.version),
    source: {
      entity,
      project: project_id.slice(entity.length + 1),
      collection,
      version: versionName(version),
    },
    ...{ artifact_id, type, metadata, aliases, tags: known.tags },
    linked_at: instantOf(event.recordedAt),
    linked_by: event.metadata.actor,
  }
}
