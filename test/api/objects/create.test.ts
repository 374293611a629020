import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, textIn, told, writesNothing } from '../calls/given.js'

describe('an object', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const post = (obj: unknown) => service.post('/obj/create', typeof obj === 'string' ? obj : { obj })
  const digestOf = async (project_id: string, val: unknown, object_id = 'thing') =>
    textIn(accepted(await post({ project_id, object_id, val })), 'digest')

  const values: readonly unknown[] = [
    null,
    true,
    0,
    -1.5,
    '',
    'text',
    [],
    {},
    [null],
    { a: { b: [1, { c: '\u0000' }] } },
    '\u2028',
    'x'.repeat(1000),
    { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: { 'obj.py': 'digest' } },
    { _class_name: 7, _bases: 'no list', weave_type: null },
    { _bases: [null, 'Object', {}], _class_name: 'A' },
    { a: 'y'.repeat(2_000_000) },
  ]
  for (const [i, val] of values.entries())
    it(`may be ${JSON.stringify(val).slice(0, 40)} (${i})`, async () => {
      const project = someProject()
      const digest = await digestOf(project, val)
      assert.match(digest, /^[A-Za-z0-9]{43}$/)
      await writesNothing(service, async () => assert.equal(await digestOf(project, val), digest))
      const [published, ...more] = await eventsOf(service, `object-${project}/thing`)
      assert.deepEqual(
        [published?.type, published?.data['version_index'], more.length],
        ['ObjectPublished', 0, 0],
      )
    })

  it('has a new version for each new content, by content alone', async () => {
    const project = someProject()
    const first = await digestOf(project, { a: 1, b: [1, 2] })
    assert.equal(await digestOf(project, { b: [1, 2], a: 1.0 }), first)
    assert.notEqual(await digestOf(project, { a: 1, b: [2, 1] }), first)
    assert.equal(await digestOf(project, { a: 1, b: [1, 2] }, 'other'), first)
    const versions = await eventsOf(service, `object-${project}/thing`)
    assert.deepEqual(
      versions.map(({ data }) => data['version_index']),
      [0, 1],
    )
  })

  it('is one version when many publish it at a time', async () => {
    const project = someProject()
    const digests = await Promise.all(Array.from({ length: 10 }, (_, i) => digestOf(project, { v: i % 2 })))
    assert.equal(new Set(digests).size, 2)
    assert.equal((await eventsOf(service, `object-${project}/thing`)).length, 2)
  })

  it('may be sent with what newer clients add', async () => {
    const project_id = someProject()
    const more = {
      wb_user_id: null,
      expected_digest: null,
      builtin_object_class: null,
      set_base_object_class: null,
    }
    accepted(await post({ project_id, object_id: 'thing', val: 1, ...more }))
    accepted(await post({ project_id, object_id: 'thing', val: 1, wb_user_id: 'mallory' }))
    const [published] = await eventsOf(service, `object-${project_id}/thing`)
    assert.equal(published?.data['wb_user_id'], 'admin')
  })

  it('is strict', async () => {
    const valid = { project_id: someProject(), object_id: 'thing', val: 1 }
    assert.deepEqual(told(await post({})), [
      'missing obj.project_id',
      'missing obj.object_id',
      'missing obj.val',
    ])
    assert.deepEqual(told(await service.post('/obj/create', { obj: valid, more: 1 })), [
      'extra_forbidden more',
    ])
    for (const [field, value, type] of [
      ['project_id', 7, 'string_type'],
      ['project_id', 'nobody', 'string_pattern_mismatch'],
      ['object_id', 7, 'string_type'],
      ['object_id', null, 'string_type'],
      ['object_id', '', 'string_pattern_mismatch'],
      ['object_id', 'a/b', 'string_pattern_mismatch'],
      ['object_id', 'a:b', 'string_pattern_mismatch'],
      ['object_id', 'a\u0000', 'string_pattern_mismatch'],
      ['object_id', 'x'.repeat(129), 'string_pattern_mismatch'],
      ['wb_user_id', 7, 'string_type'],
    ] as const)
      assert.deepEqual(told(await post({ ...valid, [field]: value })), [`${type} obj.${field}`])
  })

  it('is no 5xx with a class name of any length', async () => {
    const project_id = someProject()
    const val = { _class_name: 'C'.repeat(2_000_000), _bases: ['Object', 'BaseModel'] }
    const answer = await post({ project_id, object_id: 'thing', val })
    assert.equal(answer.status, 413)
  })
})
