import { jsonObject } from '../../kernel/codec/leaves.js'
import { isJsonObject, type JsonObject, type Json } from '../../kernel/json/json.js'
import { querySchemas } from '../../domain/query/schema.js'
import type { AnyRoute } from '../server/route.js'
import { openRoute } from '../server/route-kinds.js'
import { KEY_HEADERS } from '../server/serve.js'
import { tagsOf } from './areas.js'
import { operationOf } from './operation.js'
import { canonicalJson } from '../../kernel/json/canonical.js'

/** Generates OpenAPI 3.1.0 from the codecs that decode the requests. */
const openApi = (routes: readonly AnyRoute[]): JsonObject => {
  const components = collectComponents()
  const paths: Record<string, JsonObject> = {}
  const operationIds = new Set<string>()
  for (const one of routes) {
    const path = one.path.replace(/[:*](\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [one.method]: operationOf(one, components.named, operationIds) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tallytree',
      version: '0.1.0',
      summary: 'Records what AI programs do and what it costs.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }, { url: '/traces', description: 'The same API under the prefix that SDKs use.' }],
    tags: tagsOf(routes.map(({ path }) => path)),
    paths,
    components: {
      schemas: { ...querySchemas, ...components.schemas() },
      securitySchemes: {
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'The API key as the password, with any user name.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The API key as the token.' },
        ...Object.fromEntries(
          KEY_HEADERS.map((name) => [
            name,
            { type: 'apiKey', in: 'header', name, description: 'The API key.' },
          ]),
        ),
      },
    },
    security: ['basic', 'bearer', ...KEY_HEADERS].map((name) => ({ [name]: [] })),
  }
}

/** `/openapi.json` for the given routes and itself. */
export const openApiRoute = (routes: readonly AnyRoute[]): AnyRoute => {
  const own: AnyRoute = openRoute({
    method: 'get',
    path: '/openapi.json',
    summary: 'This description.',
    response: jsonObject,
    handle: () => Promise.resolve({ body: description }),
  })
  const description = openApi([...routes, own])
  return own
}

interface Components {
  /** Moves parts with a title to the components and replaces them with references. */
  readonly named: (schema: JsonObject) => JsonObject
  /** The schemas collected so far, by name. */
  readonly schemas: () => JsonObject
}

/** Collects named schemas. A different schema with the same name gets a numbered name. */
const collectComponents = (): Components => {
  const schemas = new Map<string, JsonObject>()

  const nameOf = (title: string, schema: JsonObject, number = 1): string => {
    const name = title.replaceAll(/[^\w.-]/g, '_') + (number === 1 ? '' : `_${number}`)
    const known = schemas.get(name)
    if (known !== undefined && canonicalJson(known) !== canonicalJson(schema))
      return nameOf(title, schema, number + 1)
    schemas.set(name, schema)
    return name
  }

  const within = (value: Json): Json => {
    if (Array.isArray(value)) return value.map((item) => within(item as Json))
    return isJsonObject(value) ? named(value) : value
  }

  const named = (schema: JsonObject): JsonObject => {
    const { title, ...rest } = schema
    const inner = Object.fromEntries<Json>(Object.entries(rest).map(([key, value]) => [key, within(value)]))
    if (typeof title !== 'string') return title === undefined ? inner : { ...inner, title: within(title) }
    return { $ref: `#/components/schemas/${nameOf(title, inner)}` }
  }

  return { named, schemas: () => Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) }
}
