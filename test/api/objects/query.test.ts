import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, reasonOf, told } from '../calls/given.js'
import { objectsOf, type ReadObject } from './given.js'

/** What Python writes of the object, which the digest is of. */
const PROMPT_TEXT = '{"_bases": ["Object", "BaseModel"], "_class_name": "Prompt", "text": "\\u00e9"}'

const named = (objs: readonly ReadObject[]) => objs.map((one) => `${one.object_id} v${one.version_index}`)

describe('a query for objects', () => {
  let service: TestService
  let given: ReturnType<typeof objectsOf>
  let project: string
  before(async () => {
    service = await sharedService()
    given = objectsOf(service)
    project = someProject()
    await given.publish(project, 'b', { _class_name: 'Cat', _bases: ['Animal', 'Object', 'BaseModel'] })
    await given.publish(project, 'b', { _class_name: 'Dog', _bases: ['Animal', 'Object', 'BaseModel'] })
    await given.publish(project, 'a', 'plain')
    await given.publish(project, 'op', { _type: 'CustomWeaveType', weave_type: { type: 'Op' } })
    await given.publish(project, 'c', { text: 'é', _class_name: 'Prompt', _bases: ['Object', 'BaseModel'] })
    await given.publish(project, 'c', { text: 'gone' })
    accepted(await given.remove(project, 'c', ['latest']))
    accepted(await given.tag(project, 'b', 'v0', ['red', 'round']))
    accepted(await given.tag(project, 'a', 'v0', ['red']))
    accepted(await given.alias(project, 'b', 'v0', ['prod']))
    accepted(await given.alias(project, 'a', 'v0', ['prod']))
  })

  const filters: readonly (readonly [object | null, readonly string[]])[] = [
    [null, ['b v0', 'b v1', 'a v0', 'op v0', 'c v0']],
    [{}, ['b v0', 'b v1', 'a v0', 'op v0', 'c v0']],
    [
      { object_ids: [], tags: [], aliases: [], base_object_classes: [] },
      ['b v0', 'b v1', 'a v0', 'op v0', 'c v0'],
    ],
    [{ object_ids: ['a', 'c', 'x'] }, ['a v0', 'c v0']],
    [{ object_ids: null, is_op: null, latest_only: false }, ['b v0', 'b v1', 'a v0', 'op v0', 'c v0']],
    [{ latest_only: true }, ['b v1', 'a v0', 'op v0', 'c v0']],
    [{ is_op: true }, ['op v0']],
    [{ is_op: false, latest_only: true }, ['b v1', 'a v0', 'c v0']],
    [{ base_object_classes: ['Animal', 'Prompt'] }, ['b v0', 'b v1', 'c v0']],
    [{ base_object_classes: ['Cat'] }, []],
    [{ exclude_base_object_classes: ['Animal'] }, ['a v0', 'op v0', 'c v0']],
    [{ leaf_object_classes: ['Cat'] }, ['b v0']],
    [{ leaf_object_classes: ['Cat'], latest_only: true }, []],
    [{ tags: ['red'] }, ['b v0', 'a v0']],
    [{ tags: ['round', 'nothing'] }, ['b v0']],
    [{ tags: ['nothing'] }, []],
    [{ aliases: ['prod'], object_ids: ['a'] }, ['a v0']],
    [{ aliases: ['latest'] }, ['b v1', 'a v0', 'op v0', 'c v0']],
    [{ aliases: ['latest', 'prod'], object_ids: ['b'] }, ['b v0', 'b v1']],
    [{ aliases: ['prod'], tags: ['round'] }, ['b v0']],
    [{ object_ids: ["'; --", '\u0000', '\\'] }, []],
  ]
  for (const [filter, expected] of filters)
    it(`may ask for ${JSON.stringify(filter)}`, async () =>
      assert.deepEqual(named(await given.query(project, { filter })), expected))

  it('is answered in the order of publication, or as asked', async () => {
    const sorted = async (...by: readonly (readonly [string, string])[]) =>
      named(await given.query(project, { sort_by: by.map(([field, direction]) => ({ field, direction })) }))
    assert.deepEqual(await sorted(['created_at', 'desc']), ['c v0', 'op v0', 'a v0', 'b v1', 'b v0'])
    assert.deepEqual(await sorted(['object_id', 'asc']), ['a v0', 'b v0', 'b v1', 'c v0', 'op v0'])
    assert.deepEqual(await sorted(['object_id', 'desc'], ['created_at', 'desc']), [
      'op v0',
      'c v0',
      'b v1',
      'b v0',
      'a v0',
    ])
    for (const field of ['digest', 'val', '', 'created_at; --'])
      assert.deepEqual(
        told(await service.in(project).objects.query({ sort_by: [{ field, direction: 'asc' }] })),
        ['literal_error sort_by.0.field'],
      )
  })

  it('gives pages', async () => {
    const sort_by = [{ field: 'object_id', direction: 'asc' }]
    const page = async (limit: number | null, offset: number | null) =>
      named(await given.query(project, { sort_by, limit, offset }))
    assert.deepEqual(await page(2, null), ['a v0', 'b v0'])
    assert.deepEqual(await page(2, 2), ['b v1', 'c v0'])
    assert.deepEqual(await page(null, 4), ['op v0'])
    assert.deepEqual(await page(0, 0), [])
    assert.deepEqual(await page(9, Number.MAX_SAFE_INTEGER), [])
  })

  it('gives what is asked for of each', async () => {
    const more = { include_storage_size: true, include_tags_and_aliases: true, metadata_only: true }
    const [cat, dog, plain, , prompt] = await given.query(project, more)
    assert.deepEqual([cat?.tags, cat?.aliases, cat?.val], [['red', 'round'], ['prod'], {}])
    assert.deepEqual([dog?.tags, dog?.aliases, dog?.is_latest], [[], ['latest'], 1])
    assert.deepEqual([plain?.aliases, plain?.size_bytes], [['prod', 'latest'], 7])
    assert.deepEqual([prompt?.base_object_class, prompt?.size_bytes], ['Prompt', PROMPT_TEXT.length])
    const [bare] = await given.query(project)
    for (const key of ['tags', 'aliases', 'size_bytes']) assert.ok(!(key in bare!))
  })

  it('lists the tags and aliases of a project', async () => {
    const list = async (name: string) => accepted(await service.send('GET', `/${name}?project_id=${project}`))
    assert.deepEqual(await list('tags'), { tags: ['red', 'round'] })
    assert.deepEqual(await list('aliases'), { aliases: ['prod'] })
    for (const query of ['', '?project_id=', '?project_id=x', '?project_id=a/b&project_id=a/b'])
      for (const name of ['tags', 'aliases'])
        assert.equal((await service.send('GET', `/${name}${query}`)).status, 422, query)
  })

  it('may have an answer of many pages', async () => {
    const other = someProject()
    const large = 'x'.repeat(250_000)
    for (let i = 0; i < 70; i += 1) await given.publish(other, `object-${i}`, { i, large })
    const objs = await given.query(other)
    assert.deepEqual(
      objs.map(({ val }) => (val as { i: number }).i),
      Array.from({ length: 70 }, (_, i) => i),
    )
  })

  it('is strict', async () => {
    const ask = (more: object) => service.in(project).objects.query(more)
    for (const [body, problem] of [
      [{ filter: { op_names: [] } }, 'extra_forbidden filter.op_names'],
      [{ filter: { tags: 'red' } }, 'list_type filter.tags'],
      [{ filter: { is_op: 1 } }, 'bool_type filter.is_op'],
      [{ limit: -1 }, 'greater_than_equal limit'],
      [{ offset: 1.5 }, 'int_type offset'],
      [{ sort_by: [{ field: 'object_id', direction: 'up' }] }, 'literal_error sort_by.0.direction'],
      [{ more: 1 }, 'extra_forbidden more'],
    ] as const)
      assert.deepEqual(told(await ask(body)), [problem])
    reasonOf(await ask({ filter: { object_ids: ['x'.repeat(5_000_000)] } }), 413)
  })
})
