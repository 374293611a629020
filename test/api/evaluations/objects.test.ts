import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { reasonOf, told, writesNothing } from '../calls/given.js'
import { evaluationsOf, scorerRef } from './requests.js'

describe('the objects of evaluations', () => {
  let service: TestService
  let project: string
  let evaluations: ReturnType<typeof evaluationsOf>
  before(async () => {
    service = await sharedService()
    project = someProject()
    evaluations = evaluationsOf(service, project)
  })

  const DATASET = scorerRef('rows')
  for (const [collection, body, shown, ref] of [
    ['ops', { name: 'answer', source_code: 'def answer(): ...' }, { code: 'def answer(): ...' }, null],
    [
      'scorers',
      { name: 'my judge', op_source_code: 'def score(): ...' },
      { name: 'my judge', description: null },
      'scorer',
    ],
    [
      'evaluations',
      {
        name: 'my evaluation',
        dataset: DATASET,
        scorers: [scorerRef('judge')],
        trials: 2,
        evaluation_name: 'run',
      },
      {
        name: 'my evaluation',
        dataset: DATASET,
        scorers: [scorerRef('judge')],
        trials: 2,
        evaluation_name: 'run',
      },
      'evaluation_ref',
    ],
    [
      'models',
      { name: 'my model', source_code: 'class M: ...', description: 'of mine', attributes: { a: 1 } },
      { name: 'my model', source_code: 'class M: ...', description: 'of mine', attributes: { a: 1 } },
      'model_ref',
    ],
  ] as const)
    it(`are created, listed, read and deleted as ${collection}`, async () => {
      const made = await evaluations.post(collection, body)
      const { object_id, digest, version_index } = made as {
        object_id: string
        digest: string
        version_index: number
      }
      assert.match(object_id, /^(answer|my-\w+)$/)
      assert.equal(version_index, 0)
      if (ref !== null) assert.equal(made[ref], `weave:///${project}/object/${object_id}:${digest}`)
      await writesNothing(service, async () =>
        assert.deepEqual(await evaluations.post(collection, body), made),
      )

      for (const version of [digest, 'latest', 'v0']) {
        const read = await evaluations.get(`${collection}/${object_id}/versions/${version}`)
        for (const [name, value] of Object.entries({ object_id, digest, version_index, ...shown }))
          assert.deepEqual(read[name], value, name)
      }
      const listed = (await evaluations.lines(collection)).filter((one) => one['object_id'] === object_id)
      assert.deepEqual(listed, [await evaluations.get(`${collection}/${object_id}/versions/latest`)])
      const other = collection === 'ops' ? 'models' : 'ops'
      reasonOf(await service.send('GET', evaluations.at(`${other}/${object_id}/versions/latest`)), 404)

      assert.deepEqual(await evaluations.remove(`${collection}/${object_id}?digests=${digest}`), {
        num_deleted: 1,
      })
      reasonOf(
        await service.send('GET', evaluations.at(`${collection}/${object_id}/versions/${digest}`)),
        404,
      )
      reasonOf(await service.send('DELETE', evaluations.at(`${collection}/${object_id}`)), 404)
    })

  it('are datasets with the table of their rows', async () => {
    const rows = [{ q: 1 }, { q: 2 }]
    const { object_id, digest } = await evaluations.post('datasets', { name: 'questions', rows })
    const dataset = await evaluations.get(`datasets/${object_id as string}/versions/${digest as string}`)
    const table = (dataset['rows'] as string).split('/').at(-1)
    const read = await service.in(project).tables.query({ digest: table }).json()
    assert.deepEqual(
      (read['rows'] as readonly { val: JsonObject }[]).map(({ val }) => val),
      rows,
    )
  })

  it('refuse wrong types, naming the field', async () => {
    for (const [path, body, problems] of [
      ['datasets', { rows: [1] }, ['dict_type rows.0']],
      ['datasets', { rows: [], name: '//' }, ['value_error name']],
      ['scorers', { name: 1 }, ['string_type name', 'missing op_source_code']],
      [
        'evaluations',
        { name: 'a', dataset: 'b', trials: 0 },
        ['string_pattern_mismatch dataset', 'greater_than_equal trials'],
      ],
      ['models', { name: 'a' }, ['missing source_code']],
    ] as const)
      assert.deepEqual(told(await service.post(evaluations.at(path), body)), problems)
  })
})
