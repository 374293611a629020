import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, reasonOf, textIn, told } from '../calls/given.js'
import { objectsOf } from './given.js'

describe('reading an object', () => {
  let service: TestService
  let given: ReturnType<typeof objectsOf>
  before(async () => {
    service = await sharedService()
    given = objectsOf(service)
  })

  it('gives all that clients look for, and nothing that was not asked for', async () => {
    const project = someProject()
    const val = {
      _type: 'Mine',
      _class_name: 'Mine',
      _bases: ['Prompt', 'Object', 'BaseModel'],
      text: 'it\u2028s',
    }
    const digest = await given.publish(project, 'thing', val)
    const { created_at, ...rest } = await given.read(project, 'thing', digest)
    assert.ok(Math.abs(Date.now() - Date.parse(created_at)) < 60_000)
    assert.deepEqual(rest, {
      project_id: project,
      object_id: 'thing',
      deleted_at: null,
      digest,
      version_index: 0,
      is_latest: 1,
      kind: 'object',
      base_object_class: 'Prompt',
      leaf_object_class: 'Mine',
      wb_user_id: 'admin',
      val,
    })
    const more = { include_tags_and_aliases: true, metadata_only: true, wb_user_id: 'mallory' }
    const described = await given.read(project, 'thing', digest, more)
    assert.deepEqual([described.val, described.tags, described.aliases], [{}, [], ['latest']])
  })

  const values: unknown[] = [
    null,
    false,
    0,
    -1.5,
    '',
    'text',
    [],
    {},
    [null],
    { a: '\u0000' },
    'x'.repeat(300_000),
  ]
  values.push({ deep: { er: [1, { c: '😀' }] }, large: 'y'.repeat(1_000_000) }, [[[]]], '{"a":1}', 1e300)
  for (const [i, val] of values.entries())
    it(`gives back ${JSON.stringify(val).slice(0, 30)} (${i})`, async () => {
      const project = someProject()
      const digest = await given.publish(project, 'thing', val)
      for (const name of [digest, 'latest', 'v0'])
        assert.deepEqual((await given.read(project, 'thing', name)).val, val)
      assert.deepEqual((await given.query(project))[0]!.val, val)
    })

  it('finds versions by digest, number, as the latest and by alias', async () => {
    const project = someProject()
    const digests = [
      await given.publish(project, 'thing', 'first'),
      await given.publish(project, 'thing', 'second'),
    ] as const
    accepted(await given.alias(project, 'thing', digests[0], ['prod']))
    for (const [name, val] of [
      [digests[0], 'first'],
      [digests[1], 'second'],
      ['v0', 'first'],
      ['v01', 'second'],
      ['latest', 'second'],
      ['prod', 'first'],
    ] as const)
      for (const more of [{}, { include_tags_and_aliases: true }])
        assert.deepEqual((await given.read(project, 'thing', name, more)).val, val, name)
    await given.publish(project, 'thing', 'third')
    assert.equal((await given.read(project, 'thing', 'latest')).val, 'third')
    assert.equal((await given.read(project, 'thing', digests[1])).is_latest, 0)
  })

  it('sees every write at once, however often it was asked before', async () => {
    const project = someProject()
    const digest = await given.publish(project, 'thing', 'it')
    for (let round = 0; round < 5; round += 1) {
      const labels = { include_tags_and_aliases: true }
      for (let time = 0; time < 2; time += 1)
        assert.deepEqual((await given.read(project, 'thing', digest, labels)).tags, [])
      accepted(await given.tag(project, 'thing', 'latest', [`round ${round}`]))
      assert.deepEqual((await given.read(project, 'thing', digest, labels)).tags, [`round ${round}`])
      accepted(await given.remove(project, 'thing'))
      assert.equal((await given.ask(project, 'thing', digest)).status, 404)
      await given.publish(project, 'thing', 'it')
    }
  })

  it('of an object with many versions is the same', async () => {
    const project = someProject()
    for (let i = 0; i < 20; i += 1) await given.publish(project, 'thing', { i })
    for (const name of ['v0', 'v7', 'v19']) {
      const { val, is_latest } = await given.read(project, 'thing', name)
      assert.deepEqual([val, is_latest], [{ i: Number(name.slice(1)) }, name === 'v19' ? 1 : 0])
    }
    assert.deepEqual((await given.read(project, 'thing', 'latest')).val, { i: 19 })
    assert.equal((await given.ask(project, 'thing', 'v20')).status, 404)
  })

  it('of what is not there is a 404', async () => {
    const project = someProject()
    await given.publish(project, 'thing', 1)
    const hostile = [
      '',
      'v1',
      `v${'9'.repeat(50)}`,
      'nothing',
      "'; DROP TABLE x; --",
      '\u0000',
      '\\',
      'a'.repeat(43),
    ]
    for (const name of [...hostile, 'x'.repeat(1_000_000), 'constructor', '\ud800'])
      for (const more of [{}, { include_tags_and_aliases: true }]) {
        reasonOf(await given.ask(project, 'thing', name, more), 404)
        reasonOf(await given.ask(project, 'other', name, more), 404)
      }
    reasonOf(await given.ask(someProject(), 'thing', 'latest'), 404)
  })

  it('of what was deleted is a 404 that says when', async () => {
    const project = someProject()
    const digest = await given.publish(project, 'thing', 1)
    accepted(await given.remove(project, 'thing'))
    for (const name of [digest, 'v0', 'latest']) {
      const answer = await given.ask(project, 'thing', name)
      assert.match(reasonOf(answer, 404), /deleted/)
      assert.match(textIn(answer.json(), 'deleted_at'), /^\d{4}-\d\d-\d\dT.*Z$/)
    }
  })

  it('is strict', async () => {
    const project_id = someProject()
    assert.deepEqual(told(await service.post('/obj/read', {})), [
      'missing project_id',
      'missing object_id',
      'missing digest',
    ])
    const valid = { project_id, object_id: 'thing', digest: 'latest' }
    for (const [field, value, type] of [
      ['object_id', 'a/b', 'string_pattern_mismatch'],
      ['digest', 7, 'string_type'],
      ['digest', null, 'string_type'],
      ['metadata_only', 'yes', 'bool_type'],
      ['wb_user_id', 7, 'string_type'],
      ['more', 1, 'extra_forbidden'],
    ] as const)
      assert.deepEqual(told(await service.post('/obj/read', { ...valid, [field]: value })), [
        `${type} ${field}`,
      ])
  })
})
