import { execute, GraphQLError } from 'graphql'
import { nullable, nullableText } from '../../domain/codec/containers.js'
import { json, jsonObject, string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import { textUpToBytes, utf8Bytes } from '../../domain/codec/text.js'
import type { Position } from '../../domain/ports/event-store.js'
import { anyKey } from '../authorization.js'
import { Failure, invalidField } from '../failure.js'
import type { AnyRoute, RouteRequest } from '../route.js'
import { writeDirectory } from '../route-kinds.js'
import { viewerOf, visibleEntity } from './entities.js'
import { readDocument } from './limits.js'
import {
  projectNamed,
  upsertModel,
  type GraphQlParts,
  type ProjectNames,
  type UpsertModelInput,
} from './projects.js'
import { schema } from './schema.js'

const MAX_QUERY_BYTES = 32_768
const MAX_VARIABLES_BYTES = 65_536

const graphQlRequest = closed('GraphQlRequest', {
  required: { query: textUpToBytes(MAX_QUERY_BYTES) },
  optional: {
    variables: nullable(jsonObject),
    operationName: nullableText(string),
    extensions: nullable(json),
  },
})

/**
 * The requests of SDKs before tracing. As usual for GraphQL over HTTP, errors of a query are in `errors` of a 200; only
 * a request that is not GraphQL is a 422.
 */
export const graphQlRoutes = (parts: GraphQlParts): readonly AnyRoute[] => [
  writeDirectory({
    method: 'post',
    path: '/graphql',
    summary: 'The subset of GraphQL that SDKs use before tracing: viewer, project, upsertModel.',
    body: graphQlRequest,
    response: open('GraphQlResponse', { optional: { data: nullable(jsonObject), errors: nullable(json) } }),
    authorization: anyKey,
    handle: (request) => {
      const { query, variables, operationName } = request.body
      if (utf8Bytes(JSON.stringify(variables)) > MAX_VARIABLES_BYTES)
        throw invalidField(
          ['variables'],
          'too_long',
          `Input should have at most ${MAX_VARIABLES_BYTES} bytes`,
        )
      const document = readDocument(query)
      return async () => {
        if (!('kind' in document)) return { body: { errors: document } }
        const { rootValue, lastWritten } = rootFor(parts, request)
        const { data, errors = [] } = await execute({
          schema,
          document,
          rootValue,
          variableValues: variables,
          operationName,
        })
        errors.forEach(rethrowUnforeseen)
        return {
          body: { ...(data === undefined ? {} : { data }), ...(errors.length === 0 ? {} : { errors }) },
          position: lastWritten(),
        }
      }
    },
  }),
]

const rootFor = (parts: GraphQlParts, { principal, cause }: Pick<RouteRequest, 'principal' | 'cause'>) => {
  let written: Position | undefined
  const asking = { principal, cause }
  const project = (names: ProjectNames) => projectNamed(parts, asking, names)
  return {
    rootValue: {
      viewer: () => viewerOf(principal),
      project,
      model: project,
      entity: ({ name }: ProjectNames) => visibleEntity(parts.teams, principal, name),
      serverInfo: { frontendHost: null, cliVersionInfo: {}, latestLocalVersionInfo: null, features: [] },
      upsertModel: async ({ input }: { readonly input: UpsertModelInput }) => {
        const { position, payload } = await upsertModel(parts, asking, input)
        written = position
        return payload
      },
    },
    lastWritten: () => written,
  }
}

/** Errors in the request are reported in `errors`; errors of the service are reported by the status. */
const rethrowUnforeseen = ({ originalError }: GraphQLError): void => {
  if (originalError == null || originalError instanceof GraphQLError || originalError instanceof Failure)
    return
  throw originalError
}
