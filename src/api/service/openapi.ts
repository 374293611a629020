import type { JsonObject } from '../../domain/json/json.js'
import { route, type AnyRoute } from '../route.js'

const reason = (description: string): JsonObject => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Reason' } } },
})

const ERRORS: Readonly<Record<string, JsonObject>> = {
  400: reason('The request makes no sense.'),
  401: reason('No valid API key was sent.'),
  403: reason('The key lacks a right, which is named.'),
  404: reason('There is no such thing, or the key has no access to it.'),
  409: reason('Something else is already recorded.'),
  413: reason('A limit is passed, which is named.'),
  422: {
    description: 'The request is not valid.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/HTTPValidationError' } } },
  },
  502: reason('The read needs too much memory.'),
  503: reason('Not possible now; Retry-After says when.'),
  504: reason('The read took too long.'),
}

const schemas: JsonObject = {
  Reason: {
    type: 'object',
    properties: { reason: { type: 'string' } },
    required: ['reason'],
    additionalProperties: true,
  },
  HTTPValidationError: {
    type: 'object',
    properties: { detail: { type: 'array', items: { $ref: '#/components/schemas/ValidationError' } } },
  },
  ValidationError: {
    type: 'object',
    properties: {
      loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
      msg: { type: 'string' },
      type: { type: 'string' },
    },
    required: ['loc', 'msg', 'type'],
  },
}

/** The description of the routes as OpenAPI 3.1.0, made from the codecs that decode. */
const openApi = (routes: readonly AnyRoute[]): JsonObject => {
  const paths: Record<string, JsonObject> = {}
  for (const one of routes) {
    const path = one.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [one.method]: operation(one) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tallytree', version: '0.1.0' },
    paths,
    components: {
      schemas,
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
    security: [{ basic: [] }, { bearer: [] }],
  }
}

const operation = ({ path, summary, access, query = {}, body, form, answer }: AnyRoute): JsonObject => ({
  summary,
  ...(access === 'open' ? { security: [] } : {}),
  parameters: [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => parameter('path', name!, { type: 'string' })),
    ...Object.entries(query).map(([name, schema]) => parameter('query', name, schema)),
  ],
  ...(body === undefined ? {} : requestBody('application/json', body.schema)),
  ...(form === undefined ? {} : requestBody('multipart/form-data', form)),
  responses: {
    200: {
      description: 'Success.',
      content: { [answer.type ?? 'application/json']: { schema: answer.schema } },
    },
    ...(access === 'open' ? {} : ERRORS),
  },
})

const parameter = (place: 'path' | 'query', name: string, schema: JsonObject): JsonObject => ({
  name,
  in: place,
  required: true,
  schema,
})

const requestBody = (type: string, schema: JsonObject): JsonObject => ({
  requestBody: { required: true, content: { [type]: { schema } } },
})

/** `/openapi.json`, describing the given routes and itself. */
export const openApiRoute = (routes: readonly AnyRoute[]): AnyRoute => {
  const own: AnyRoute = route({
    method: 'get',
    path: '/openapi.json',
    summary: 'This description.',
    access: 'open',
    answer: { schema: { type: 'object', additionalProperties: true } },
    handle: () => Promise.resolve({ body: description }),
  })
  const description = openApi([...routes, own])
  return own
}
