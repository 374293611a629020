import { execute, GraphQLError, parse, validate, type DocumentNode, type ExecutionResult } from 'graphql'
import type { RunHistory } from '../../application/runs/history.js'
import type { Runs } from '../../application/runs/runs.js'
import type { Collections } from '../../application/artifacts/collections.js'
import { nullable, nullableText } from '../../kernel/codec/containers.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { jsonTextInSteps } from '../../kernel/json/text-in-steps.js'
import { json, jsonObject, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToBytes, utf8Bytes } from '../../kernel/codec/text.js'
import { linksFor } from '../files/links.js'
import { anyKey } from '../server/authorization.js'
import { InvalidQuery, UnknownField } from '../../domain/query/errors.js'
import { Failure, invalidField } from '../../application/failure.js'
import { writtenAs, type AnyRoute } from '../server/route.js'
import { writeDirectory } from '../server/route-kinds.js'
import { artifactNamed, artifactWithId } from './artifacts.js'
import { callerOf, type GraphQlServices, type Nodes } from './caller.js'
import { collectionNamed, collectionOf, collectionsIn } from './collections.js'
import { projectOf } from './projects.js'
import { checkReads } from './query-limits.js'
import { rootOf } from './root.js'
import { runNamed } from './runs.js'
import { schema } from './schema.js'
import { withoutUnknownNulls } from './without-unknown-nulls.js'

const nodes: Nodes = {
  project: projectOf,
  run: runNamed,
  artifact: artifactWithId,
  artifactNamed,
  collection: collectionNamed,
  collectionAt: collectionOf,
  collections: collectionsIn,
}

const MAX_QUERY_BYTES = 32_768
/** A client may send the names of 2,000 files at once, and configurations. */
const MAX_VARIABLES_BYTES = 8_388_608

const graphQlRequest = closed('GraphQlRequest', {
  required: { query: textUpToBytes(MAX_QUERY_BYTES) },
  optional: {
    variables: nullable(jsonObject),
    operationName: nullableText(string),
    extensions: nullable(json),
  },
})

const graphQlResponse = open('GraphQlResponse', {
  optional: { data: nullable(jsonObject), errors: nullable(json) },
})

/**
 * The requests of SDKs for runs and artifacts, and before tracing. As usual for GraphQL over HTTP, errors of a query are in
 * `errors` of a 200; a request without a valid key is a 401, also with `errors`, and one that is not GraphQL a 422.
 */
export const graphQlRoutes = (
  services: GraphQlServices,
  shared: { readonly runs: Runs; readonly history: RunHistory; readonly collections: Collections },
): readonly AnyRoute[] => {
  const tools = { ...shared, services, nodes }
  return [
    writeDirectory({
      method: 'post',
      path: '/graphql',
      summary: 'The subset of GraphQL that the packages `wandb` and `weave` use.',
      errorFormat: 'graphql',
      body: graphQlRequest,
      response: writtenAs<ExecutionResult>(graphQlResponse.schema),
      authorization: anyKey,
      handle: async ({ body: { query, variables, operationName }, principal, cause, headers, reader }) => {
        if (utf8Bytes(await jsonTextInSteps(variables ?? null)) > MAX_VARIABLES_BYTES)
          throw invalidField(
            ['variables'],
            'too_long',
            `Input should have at most ${MAX_VARIABLES_BYTES} bytes`,
          )
        const document = readDocument(query, variables ?? {})
        return async () => {
          if (!('kind' in document)) return { body: { errors: document } }
          const links = linksFor(services, headers, principal)
          const { caller, lastWritten } = callerOf(tools, { principal, cause, links, reader })
          const { data, errors = [] } = await execute({
            schema,
            document,
            rootValue: rootOf(caller),
            variableValues: withoutUnknownNulls(schema, document, variables ?? {}),
            operationName,
          })
          errors.forEach(rethrowServiceErrors)
          const { refusal } = caller.budget
          const overspent = errors.find(({ originalError }) => originalError === refusal)
          if (refusal !== undefined && overspent !== undefined)
            return { body: { errors: [withField(overspent)] }, position: lastWritten() }
          return {
            body: { ...(data === undefined ? {} : { data }), ...(errors.length === 0 ? {} : { errors }) },
            position: lastWritten(),
          }
        }
      },
    }),
  ]
}

const MAX_TOKENS = 1000
const MAX_ERRORS = 10

/** Parses and validates a query, or returns the errors. Tokens, and what a request may read, bound its work. */
const readDocument = (query: string, variables: JsonObject): DocumentNode | readonly GraphQLError[] => {
  try {
    const document = parse(query, { maxTokens: MAX_TOKENS })
    const errors = validate(schema, document, undefined, { maxErrors: MAX_ERRORS })
    if (errors.length > 0) return withHint(errors)
    checkReads(schema, document, variables)
    return document
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    throw error
  }
}

const UNKNOWN = /on type "(Query|Mutation|Project|Entity)"|^Unknown type /
const HINT = 'Sweeps, launch queues, reports and rewinding runs are not supported.'

/** Names that are alike mean something else. */
const SUGGESTION = /(?<=on type "Mutation"\.|^Unknown type "\w+"\.) Did you mean .*\?$/

/** Clients show people the message of the first error, or of all. */
const withHint = (errors: readonly GraphQLError[]): readonly GraphQLError[] =>
  errors.some(({ message }) => UNKNOWN.test(message))
    ? errors.map(({ message, nodes }, at) => {
        const shown = message.replace(SUGGESTION, '')
        return new GraphQLError(at > 0 ? shown : `${shown} ${HINT}`, nodes === undefined ? {} : { nodes })
      })
    : errors

/** Says which field of the query an error is of: clients show the message alone. */
const withField = ({ message, path = [], nodes }: GraphQLError): GraphQLError => {
  const field = path.filter((part) => typeof part === 'string').join('.')
  return new GraphQLError(`${field}: ${message}`, { path, ...(nodes === undefined ? {} : { nodes }) })
}

/** Clients ask again after the status of these, and not after an error of the request. */
const OF_THE_SERVICE: ReadonlySet<string> = new Set([
  'overloaded',
  'not-yet-readable',
  'too-slow',
  'too-costly',
])

const isOfRequest = (error: Error): boolean => {
  if (error instanceof Failure) return !OF_THE_SERVICE.has(error.kind)
  return error instanceof GraphQLError || error instanceof InvalidQuery || error instanceof UnknownField
}

/** Errors in the request are reported in `errors`; errors of the service are reported by the status. */
const rethrowServiceErrors = ({ originalError }: GraphQLError): void => {
  if (originalError != null && !isOfRequest(originalError)) throw originalError
}
