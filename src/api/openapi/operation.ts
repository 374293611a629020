import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import type { AnyRoute, ResponseHeader, ResponseSpec } from '../server/route.js'
import { areaOf, operationIdOf } from './areas.js'
import { failuresOf } from './failures.js'
import { headersByName, headerParameters } from './headers.js'

const BYTES = { type: 'string', format: 'binary' }

type NameSchema = (schema: JsonObject) => JsonObject

/** Describes a route as an OpenAPI operation. Its named schemas become components, and its id is added to `operationIds`. */
export const operationOf = (route: AnyRoute, named: NameSchema, operationIds: Set<string>): JsonObject => {
  const { method, path, summary, access, body, form, bytes, response } = route
  const operationId = operationIdOf(method, path, operationIds)
  operationIds.add(operationId)
  return {
    operationId,
    tags: [areaOf(path)],
    summary,
    ...(access === 'open' ? { security: [] } : {}),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(route, named),
      ...headerParameters(route.requestHeaders),
    ],
    ...(body === undefined ? {} : requestBody('application/json', named(body.schema))),
    ...(form === undefined ? {} : requestBody('multipart/form-data', named(form))),
    ...(bytes === true ? requestBody('application/octet-stream', BYTES) : {}),
    responses: {
      200: answered('Success.', response, route.responseHeaders, named),
      ...failuresOf(route, named),
      ...Object.fromEntries(
        Object.entries(response.otherStatuses ?? {}).map(([status, other]) => [
          status,
          answered(other.says, other, [], named),
        ]),
      ),
    },
  }
}

const pathParameters = (path: string): readonly JsonObject[] =>
  [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
  }))

const queryParameters = ({ query }: AnyRoute, named: NameSchema): readonly JsonObject[] => {
  const properties = query?.schema['properties']
  if (!isJsonObject(properties)) return []
  const required = (query?.schema['required'] ?? []) as readonly string[]
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: named(schema as JsonObject),
  }))
}

const requestBody = (type: string, schema: JsonObject): JsonObject => ({
  requestBody: { required: true, content: { [type]: { schema } } },
})

const answered = (
  description: string,
  { schema, type = 'application/json', alternatives, headers }: ResponseSpec,
  usual: readonly ResponseHeader[],
  named: NameSchema,
): JsonObject => ({
  description,
  headers: headersByName(headers ?? usual),
  content: {
    ...Object.fromEntries(
      Object.entries({ [type]: schema, ...alternatives }).map(([each, of]) => [each, { schema: named(of) }]),
    ),
  },
})
