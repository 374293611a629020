import { writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'
import { allRoutes } from '../src/api/routes.ts'

/** Stands for the services of routes, which are only described here. */
const unused = new Proxy(() => undefined, { get: () => unused, apply: () => unused })

/** Writes `web/schema.d.ts`, the types of the API, from the description that the service serves. */
const description = allRoutes(unused).find(({ path }) => path === '/openapi.json')
const { body } = await description.handle({ headers: {} })
const read = typeof body === 'string' ? body : JSON.parse(JSON.stringify(body))
// Fields with a default may be left out of requests.
const types = astToString(await openapiTS(read, { defaultNonNullable: false }))
await writeFile(new URL('./schema.d.ts', import.meta.url), `/* eslint-disable -- generated */\n${types}`)
