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
      assert.match(object_id, /^(answer|my_\w+)$/)
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
      const path = `${collection}/${object_id}/versions/${digest}`
      const gone = await service.send('GET', evaluations.at(path))
      const { deleted_at } = gone.json<{ deleted_at: string }>()
      assert.equal(reasonOf(gone, 404), `The object version was deleted at ${deleted_at}.`)
      const read = { project_id: project, object_id, digest }
      assert.deepEqual((await service.post('/obj/read', read)).json(), gone.json())
      const ofOther = await service.send('GET', evaluations.at(path.replace(collection, other)))
      assert.equal(reasonOf(ofOther, 404), 'Object version not found in this project.')
      reasonOf(await service.send('DELETE', evaluations.at(`${collection}/${object_id}`)), 404)
    })

  for (const [collection, body] of [
    ['ops', { source_code: '' }],
    ['datasets', { rows: [] }],
    ['scorers', { op_source_code: '' }],
    ['evaluations', { dataset: DATASET, scorers: [] }],
    ['models', { source_code: '' }],
  ] as const)
    it(`have the ids of Weave as ${collection}`, async () => {
      for (const [name, id] of [
        ['TestModel', 'testmodel'],
        ['My Thing', 'my_thing'],
        ['user/thing', 'user_thing'],
        ['a  b//c', 'a__b__c'],
        ['name:with=invalid<chars>', 'namewithinvalidchars'],
        ['-V1.2_x-', '-v1.2_x-'],
        ['Größe', 'größe'],
        ['//', '__'],
        [`${'x'.repeat(127)}YZ`, `${'x'.repeat(127)}y`],
      ] as const)
        assert.equal((await evaluations.post(collection, { ...body, name }))['object_id'], id)
    })

  it('are read and deleted under the ids that they were published with', async () => {
    const val = { _type: 'Model', _class_name: 'Model', _bases: ['Object', 'BaseModel'], name: 'My Thing' }
    await service.in(project).objects.create('My-Thing', val).json()
    assert.equal((await evaluations.get('models/My-Thing/versions/latest'))['object_id'], 'My-Thing')
    assert.deepEqual(await evaluations.remove('models/My-Thing'), { num_deleted: 1 })
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
      ['datasets', { rows: [], name: '?!' }, ['value_error name']],
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
