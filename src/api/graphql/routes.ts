import type { Services } from '../../application/services.js'
import { execute, GraphQLError, parse, validate, type DocumentNode } from 'graphql'
import { nullable, nullableText } from '../../kernel/codec/containers.js'
import { json, jsonObject, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToBytes, utf8Bytes } from '../../kernel/codec/text.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { anyKey } from '../server/authorization.js'
import { Failure, invalidField } from '../../application/failure.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { writeDirectory } from '../server/route-kinds.js'
import {
  projectNamed,
  upsertModel,
  viewerOf,
  visibleEntity,
  type ProjectNames,
  type UpsertModelInput,
} from './resolvers.js'
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
 * The requests of SDKs before tracing. As usual for GraphQL over HTTP, errors of a query are in `errors` of a 200; a request
 * without a valid key is a 401, also with `errors`, and one that is not GraphQL a 422.
 */
export const graphQlRoutes = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access' | 'reading' | 'throttle'>,
): readonly AnyRoute[] => [
  writeDirectory({
    method: 'post',
    path: '/graphql',
    summary: 'The subset of GraphQL that SDKs use before tracing: viewer, project, upsertModel.',
    errorFormat: 'graphql',
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
        const { rootValue, lastWritten } = rootFor(services, request)
        const { data, errors = [] } = await execute({
          schema,
          document,
          rootValue,
          variableValues: variables,
          operationName,
        })
        errors.forEach(rethrowServiceErrors)
        return {
          body: { ...(data === undefined ? {} : { data }), ...(errors.length === 0 ? {} : { errors }) },
          position: lastWritten(),
        }
      }
    },
  }),
]

const MAX_TOKENS = 1000
const MAX_ERRORS = 10

/**
 * Parses and validates a query, or returns the errors. Tokens bound its work: the schema has no recursive types, and
 * validation limits the depth of introspection.
 */
const readDocument = (query: string): DocumentNode | readonly GraphQLError[] => {
  try {
    const document = parse(query, { maxTokens: MAX_TOKENS })
    const errors = validate(schema, document, undefined, { maxErrors: MAX_ERRORS })
    return errors.length > 0 ? errors : document
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    throw error
  }
}

const rootFor = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access' | 'reading' | 'throttle'>,
  { principal, cause }: Pick<RouteRequest, 'principal' | 'cause'>,
) => {
  let written: Position | undefined
  const caller = { principal, cause }
  const project = (names: ProjectNames) => projectNamed(services, caller, names)
  return {
    rootValue: {
      viewer: () => viewerOf(principal),
      project,
      model: project,
      entity: ({ name }: ProjectNames) => visibleEntity(services, principal, name),
      serverInfo: { frontendHost: null, cliVersionInfo: {}, latestLocalVersionInfo: null, features: [] },
      upsertModel: async ({ input }: { readonly input: UpsertModelInput }) => {
        const { position, payload } = await upsertModel(services, caller, input)
        written = position
        return payload
      },
    },
    lastWritten: () => written,
  }
}

/** Errors in the request are reported in `errors`; errors of the service are reported by the status. */
const rethrowServiceErrors = ({ originalError }: GraphQLError): void => {
  if (originalError == null || originalError instanceof GraphQLError || originalError instanceof Failure)
    return
  throw originalError
}
