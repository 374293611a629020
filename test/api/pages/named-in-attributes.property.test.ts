import assert from 'node:assert/strict'
import fc from 'fast-check'
import { valueAt } from '../../../src/domain/query/field-path.js'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'

const PATHS = {
  end_user: ['customer.id', 'user.id', 'user', 'user_id', 'enduser.id'],
  environment: ['environment', 'env', 'deployment.environment.name', 'deployment.environment'],
}
const KEYS = [
  ...[
    'user',
    'id',
    'user.id',
    'user_id',
    'enduser',
    'enduser.id',
    'customer',
    'customer.id',
    'environment',
    'env',
  ],
  ...['deployment', 'name', 'environment.name', 'deployment.environment', 'deployment.environment.name'],
]

const { attributes } = fc.letrec<{ attributes: JsonObject; value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom<Json>('ada', 'bob', '', null, 7, true, '"quoted"'),
    tie('attributes'),
  ),
  attributes: fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 4 }),
}))

/** A text as it is, anything else as JSON. */
const textOf = (value: Json | undefined): string | undefined =>
  value === undefined || value === null || value === ''
    ? undefined
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)

const counted = (calls: readonly JsonObject[], paths: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const call of calls) {
    const texts = paths.map((path) => textOf(valueAt(call, path.split('.'))))
    const first = texts.find((text) => text !== undefined)
    if (first !== undefined) counts[first] = (counts[first] ?? 0) + 1
  }
  return counts
}

describe('the end user and the environment of calls', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('are the first of the usual attributes, and of the one that the project names, with a value', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(attributes, { minLength: 20, maxLength: 60 }),
        fc.boolean(),
        async (given, isNamed) => {
          const project = someProject()
          const started_at = '2026-03-01T10:00:00Z'
          const calls = given.map((one, n) => ({
            ...{ id: `call-${n}`, trace_id: `call-${n}`, op_name: 'answer', attributes: one },
            ...{ started_at, ended_at: started_at },
          }))
          await service.in(project).calls.complete(calls).json()
          const end_user_attribute = isNamed ? 'customer.id' : ''
          accepted(await service.send('PUT', `/api/projects/${project}`, { end_user_attribute }))
          const { facets } = accepted(
            await service.post('/api/pages/calls/summary', {
              ...{ project_id: project, fields: Object.keys(PATHS), limit: 100 },
            }),
          ) as unknown as { facets: { field: string; values: { value: string; calls: number }[] }[] }
          for (const [n, [field, paths]] of Object.entries(PATHS).entries()) {
            const usual = field === 'end_user' && !isNamed ? paths.slice(1) : paths
            const values = Object.fromEntries(
              facets[n]!.values.map(({ value, calls: count }) => [value, count]),
            )
            assert.deepEqual(values, counted(given, usual), field)
          }
        },
      ),
      { numRuns: 4 },
    ))
})
