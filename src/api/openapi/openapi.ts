import type { JsonObject } from '../../kernel/json/json.js'
import { querySchemas } from '../../domain/query/schema.js'
import type { AnyRoute } from '../server/route.js'
import { openRoute } from '../server/route-kinds.js'
import { tagsOf } from './areas.js'
import { collectComponents } from './components.js'
import { operationOf } from './operation.js'

/** Generates OpenAPI 3.1.0 from the codecs that decode the requests. */
const openApi = (routes: readonly AnyRoute[]): JsonObject => {
  const components = collectComponents()
  const paths: Record<string, JsonObject> = {}
  for (const one of routes) {
    const path = one.path.replace(/[:*](\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [one.method]: operationOf(one, components.named) }
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
      },
    },
    security: [{ basic: [] }, { bearer: [] }],
  }
}

/** `/openapi.json` for the given routes and itself. */
export const openApiRoute = (routes: readonly AnyRoute[]): AnyRoute => {
  const own: AnyRoute = openRoute({
    method: 'get',
    path: '/openapi.json',
    summary: 'This description.',
    response: { schema: { type: 'object', additionalProperties: true } },
    handle: () => Promise.resolve({ body: description }),
  })
  const description = openApi([...routes, own])
  return own
}
