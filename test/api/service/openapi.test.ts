import assert from 'node:assert/strict'
import { Validator } from '@seriousme/openapi-schema-validator'
import { isJsonObject, type Json, type JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonObject }>> }
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly headers: JsonObject; readonly content: JsonObject }
    >
  >
}

interface Description {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly tags: readonly { readonly name: string }[]
  readonly components: { readonly schemas: JsonObject }
}

/** One type an answer, but for a completion, which may be a stream. */
/** The content types of endpoints whose requests choose one. */
const TYPES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    ['chat/completions', 'responses', 'messages', 'completions'].map((path) => [`/v1/${path}`, 2]),
  ),
  '/usage/query': 4,
  '/api/pages/export/{link}': 3,
}
const typesOf = (path: string, status: string): number => (status === '200' ? (TYPES[path] ?? 1) : 1)

describe('the description of the API', () => {
  let service: TestService
  let description: Description
  before(async () => {
    service = await sharedService()
    description = (await service.send('GET', '/openapi.json', undefined, { key: null })).json<Description>()
  })

  const operations = () =>
    Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )

  const bodyOf = (path: string) =>
    resolved(description.paths[path]?.['post']?.requestBody?.content['application/json']?.schema)

  const resolved = (schema: Json | undefined) => {
    const ref = isJsonObject(schema) ? schema['$ref'] : undefined
    const found = typeof ref === 'string' ? description.components.schemas[ref.split('/').at(-1)!] : schema
    return JSON.parse(JSON.stringify(found))
  }

  it('is OpenAPI 3.1.0, version 0.1.0', () =>
    assert.deepEqual([description.openapi, description.info.version], ['3.1.0', '0.1.0']))

  it('is valid, as an independent validator sees it', async () => {
    const { valid, errors } = await new Validator().validate({ ...structuredClone(description) })
    assert.equal(valid, true, JSON.stringify(errors))
  })

  it('names each operation once, in an area that it describes', () => {
    const ids = operations().map(({ operation }) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
    const areas = description.tags.map(({ name }) => name)
    for (const { path, operation } of operations())
      assert.ok(operation.tags.every((tag) => areas.includes(tag)) && operation.tags.length === 1, path)
  })

  it('documents 413 only for requests with a body', () =>
    assert.deepEqual(
      operations()
        .filter(({ operation }) => '413' in operation.responses && operation.requestBody === undefined)
        .map(({ operation }) => operation.operationId),
      [],
    ))

  it('gives each name to one schema', () =>
    assert.deepEqual(
      Object.keys(description.components.schemas).filter((name) => /_\d+$/.test(name)),
      [],
    ))

  it('says of every answer that it names the request, and of a refused key how to send one', () => {
    for (const { path, operation } of operations())
      for (const [status, { headers }] of Object.entries(operation.responses)) {
        assert.ok('x-request-id' in headers, path)
        assert.equal('WWW-Authenticate' in headers, status === '401')
        assert.equal('Retry-After' in headers, ['429', '503', '529'].includes(status))
      }
  })

  it('names every parameter of every path, says what each endpoint does and what it answers', () => {
    for (const { path, operation } of operations()) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      assert.deepEqual(
        operation.parameters.filter((one) => one.in === 'path' && one.required).map(({ name }) => name),
        inPath,
      )
      assert.ok(operation.parameters.every((one) => one.in !== 'header' || !one.required))
      assert.ok(!path.includes(':') && operation.summary.endsWith('.'))
      for (const [status, { description: said, content }] of Object.entries(operation.responses))
        assert.ok(
          /^[2-5]\d\d$/.test(status) && said !== '' && Object.keys(content).length === typesOf(path, status),
        )
    }
  })

  it('refers to nothing that it does not have', () => {
    const refs = [...JSON.stringify(description).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!)
    assert.ok(refs.length > 0)
    for (const ref of new Set(refs)) {
      const found = ref
        .slice(2)
        .split('/')
        .reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), description)
      assert.notEqual(found, undefined, ref)
    }
  })

  it('describes a started call as the specification does', () => {
    const { properties, required, additionalProperties } = bodyOf('/call/start')
    assert.deepEqual([Object.keys(properties), required, additionalProperties], [['start'], ['start'], false])
    const start = resolved(properties.start)
    assert.deepEqual(start.required.toSorted(), [
      'attributes',
      'inputs',
      'op_name',
      'project_id',
      'started_at',
    ])
    assert.deepEqual(Object.keys(start.properties).toSorted(), [
      'attributes',
      'display_name',
      'id',
      'inputs',
      'op_name',
      'otel_dump',
      'parent_id',
      'project_id',
      'started_at',
      'thread_id',
      'trace_id',
      'turn_id',
      'wb_run_id',
      'wb_run_step',
      'wb_user_id',
    ])
    assert.deepEqual(start.properties.started_at, { type: 'string', format: 'date-time' })
  })

  it('describes the question for usage as the specification does', () => {
    const { properties, required } = bodyOf('/trace/usage')
    assert.deepEqual(Object.keys(properties), [
      'project_id',
      'filter',
      'query',
      'include_costs',
      'limit',
      'price_list',
    ])
    assert.deepEqual(required, ['project_id'])
  })

  it('describes forms as such', () => {
    for (const path of ['/file/create', '/files/create']) {
      const content = description.paths[path]?.['post']?.requestBody?.content ?? {}
      assert.deepEqual(Object.keys(content), ['multipart/form-data'])
    }
  })

  it('describes validation errors as the specification does', () =>
    assert.deepEqual((description.components.schemas['ValidationError'] as JsonObject)['required'], [
      'loc',
      'msg',
      'type',
    ]))
})
