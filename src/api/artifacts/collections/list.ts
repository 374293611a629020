import type { Services } from '../../../application/services.js'
import { projectOfPlace } from '../../../domain/artifacts/place.js'
import { nullable } from '../../../kernel/codec/containers.js'
import { string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import type { ClickHouseReader } from '../../../kernel/ports/clickhouse.js'
import { collectionsOf } from '../../../projections/artifacts/queries.js'
import { accessToProject, inPath } from '../../server/authorization.js'
import { pageFields, pageOf, pageQuery, takePage, type PageQuery } from '../../server/page.js'
import type { AnyRoute, RouteRequest } from '../../server/route.js'
import { readPresent } from '../../server/route-kinds.js'
import { findRegistry, teamFields } from './find.js'

const collection = open('ArtifactCollection', { required: { name: string, type: nullable(string) } })

const listed = async (reader: ClickHouseReader, project: string, { after, limit }: PageQuery) => {
  const all = await collectionsOf(reader)(project, null)
  const rest = after === undefined ? all : all.filter(({ collection }) => collection > after)
  const { data, next } = takePage(rest, { limit, keyOf: ({ collection }) => collection })
  return { body: { data: data.map(({ collection: name, type }) => ({ name, type })), next } }
}

type ListServices = Pick<Services, 'access' | 'reading' | 'eventStore'>

/** The collections of a project and of a registry. */
export const collectionListRoutes = (services: ListServices): readonly AnyRoute[] => [
  readPresent(services, {
    method: 'get',
    path: '/api/artifacts/:entity/:project',
    summary: "Lists a project's collections of artifacts by name.",
    query: pageQuery,
    response: pageOf(collection),
    authorization: accessToProject(services.access, inPath),
    scope: ({ project }) => project,
    handle:
      ({ project, reader, query }) =>
      () =>
        listed(reader, project, query),
  }),
  readPresent(services, {
    method: 'get',
    path: '/api/registries/:registry',
    summary: "Lists a registry's collections by name.",
    query: open('RegistryCollections', { optional: { ...teamFields, ...pageFields } }),
    response: pageOf(collection),
    authorization: {
      errors: ['not-found', 'conflict'],
      authorize: async (request: RouteRequest<unknown, { readonly team?: string | undefined }>) => {
        const { team, registry } = await findRegistry(services, request)
        return { team, project: projectOfPlace({ team, registry, project_id: null }) }
      },
    },
    scope: ({ project }) => project,
    handle:
      ({ project, reader, query }) =>
      () =>
        listed(reader, project, query),
  }),
]
