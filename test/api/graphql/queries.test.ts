import assert from 'node:assert/strict'
import { getIntrospectionQuery } from 'graphql'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { told } from '../calls/given.js'
import { ask, dataOf } from './given.js'

describe('a query in GraphQL', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const spreading = (levels: number): string =>
    Array.from({ length: levels }, (_, i) => `fragment F${i} on User { ...F${i + 1} ...F${i + 1} }`).join(
      ' ',
    ) + ` fragment F${levels} on User { id }`

  const wrong: Readonly<Record<string, readonly [string, RegExp]>> = {
    nothing: ['', /Unexpected <EOF>/],
    'no GraphQL': ['SELECT 1', /Syntax Error/],
    'an open brace': ['{ viewer {', /Syntax Error/],
    NUL: ['{ viewer \u0000 { id } }', /Syntax Error/],
    'a field that is not there': ['{ viewer { password } }', /Cannot query field "password" on type "User"/],
    'a field without its fields': ['{ viewer }', /must have a selection of subfields/],
    'a fragment of itself': ['{ viewer { ...F } } fragment F on User { ...F }', /Cannot spread fragment "F"/],
    'a subscription': [
      'subscription { viewer { id } }',
      /not configured to execute subscription|Cannot query/,
    ],
    'a schema': ['type Query { a: Int }', /not executable/],
    'a variable that is not declared': ['{ project(name: $n) { id } }', /Variable "\$n" is not defined/],
    'a variable of another type': [
      'query ($n: Int) { project(name: $n) { id } }',
      /used in position expecting/,
    ],
    'a directive nobody knows': ['{ viewer @x { id } }', /Unknown directive/],
    'two operations and no name': [
      'query A { viewer { id } } query B { viewer { id } }',
      /Must provide operation name/,
    ],
    'many tokens': [`{ ${'viewer { id } '.repeat(400)} }`, /more tha\w 1000 tokens/],
    'deep braces': ['{ viewer '.repeat(300), /Syntax Error/],
    'deep fields': [`{ viewer ${'{ id '.repeat(200)}${'}'.repeat(200)} }`, /selection|depth|nesting/],
    'a deep list': [
      `{ project(name: ${'['.repeat(400)}${']'.repeat(400)}) { id } }`,
      /String cannot represent/,
    ],
    'a deep introspection': [
      `{ __schema { types { ${'fields { type { '.repeat(10)} name ${'} }'.repeat(10)} } } }`,
      /introspection depth/i,
    ],
  }
  for (const [name, [query, message]] of Object.entries(wrong))
    it(`is answered with what is wrong: ${name}`, async () => {
      const { data, errors } = await ask(service, query)
      assert.equal(data ?? undefined, undefined)
      assert.match(errors![0]!.message, message)
      assert.ok(errors!.length <= 11)
    })

  it('is answered however its fragments spread, which takes no time that doubles with each', async () => {
    const { viewer } = dataOf(await ask(service, `{ viewer { ...F0 } } ${spreading(60)}`))
    assert.deepEqual(Object.keys(viewer), ['id'])
  })

  it('may ask for the whole schema, and for one type', async () => {
    assert.ok(dataOf(await ask(service, getIntrospectionQuery()))['__schema'].types.length > 10)
    const query = '{ QueryType: __type(name: "Query") { name fields { name args { name } } } }'
    const { QueryType } = dataOf(await ask(service, query))
    assert.deepEqual(
      QueryType.fields.map((field: { name: string }) => field.name),
      [
        'viewer',
        'project',
        'model',
        'models',
        'entity',
        'organization',
        'serverInfo',
        'artifact',
        'artifactCollection',
        'clientIDMapping',
      ],
    )
  })

  it('may have several operations, of which it names one', async () => {
    const query = 'query A { viewer { id } } query B { serverInfo { frontendHost } }'
    const answer = await service.post('/traces/graphql', { query, operationName: 'B', variables: null })
    assert.deepEqual(answer.json(), { data: { serverInfo: { frontendHost: null } } })
    const unknown = await service.post('/graphql', { query, operationName: 'C' })
    assert.match(unknown.json<{ errors: { message: string }[] }>().errors[0]!.message, /Unknown operation/)
  })

  it('that is none is a 422', async () => {
    const deep = `${'['.repeat(300)}${']'.repeat(300)}`
    for (const [body, problem] of [
      [{}, 'missing query'],
      [{ query: null }, 'string_type query'],
      [{ query: ['{ viewer { id } }'] }, 'string_type query'],
      [{ query: 'x'.repeat(40_000) }, 'string_too_long query'],
      [{ query: '{ viewer { id } }', variables: [] }, 'dict_type variables'],
      [{ query: '{ viewer { id } }', variables: '{}' }, 'dict_type variables'],
      [{ query: '{ viewer { id } }', variables: { a: 'x'.repeat(8_400_000) } }, 'too_long variables'],
      [{ query: '{ viewer { id } }', operationName: 7 }, 'string_type operationName'],
      [{ query: '{ viewer { id } }', more: 1 }, 'extra_forbidden more'],
      [[{ query: '{ viewer { id } }' }], 'model_attributes_type'],
      [`{"query": "{ viewer { id } }", "variables": {"a": ${deep}}}`, 'recursion_depth variables.a.0.0'],
    ] as const)
      assert.deepEqual(
        told(await service.post('/graphql', body)).map((one) => one.trim()),
        [problem],
      )
  })
})
