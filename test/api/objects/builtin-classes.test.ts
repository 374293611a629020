import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, reasonOf, told } from '../calls/given.js'
import { objectsOf } from './given.js'

describe('an object of a built-in class', () => {
  let service: TestService
  let given: ReturnType<typeof objectsOf>
  before(async () => {
    service = await sharedService()
    given = objectsOf(service)
  })
  const create = (project_id: string, val: unknown, more: object) =>
    service.post('/obj/create', { obj: { project_id, object_id: 'thing', val, ...more } })

  const BASES = ['BaseObject', 'BaseModel']
  const ANNOTATION = { _type: 'AnnotationSpec', _class_name: 'AnnotationSpec', _bases: BASES }
  const COMPLETED = {
    ...ANNOTATION,
    name: 'column',
    description: null,
    field_schema: { type: 'integer' },
    unique_among_creators: false,
    op_scope: null,
  }
  const SENT = { name: 'column', field_schema: { type: 'integer' }, nonsense: 1 }

  for (const member of ['builtin_object_class', 'set_base_object_class'])
    it(`is completed when ${member} names its class`, async () => {
      const project = someProject()
      const digest = await given.publish(project, 'thing', SENT, { [member]: 'AnnotationSpec' })
      const { val, base_object_class, leaf_object_class } = await given.read(project, 'thing', digest)
      assert.deepEqual(val, COMPLETED)
      assert.deepEqual([base_object_class, leaf_object_class], ['AnnotationSpec', 'AnnotationSpec'])
      assert.equal(await given.publish(project, 'thing', COMPLETED), digest)
      const found = await given.query(project, { filter: { base_object_classes: ['AnnotationSpec'] } })
      assert.deepEqual([found.length, found[0]?.digest], [1, digest])
    })

  it('has the base class of a model when it is a model', async () => {
    const project = someProject()
    const model = { builtin_object_class: 'LLMStructuredCompletionModel' }
    const digest = await given.publish(project, 'thing', { llm_model_id: 'gpt-4o-mini' }, model)
    const { base_object_class, leaf_object_class } = await given.read(project, 'thing', digest)
    assert.deepEqual([base_object_class, leaf_object_class], ['Model', 'LLMStructuredCompletionModel'])
  })

  it('compares expected_digest with the digest of the completed value', async () => {
    const [first, second] = [someProject(), someProject()]
    const digest = await given.publish(first, 'thing', COMPLETED)
    const more = { builtin_object_class: 'AnnotationSpec' }
    accepted(await create(second, SENT, { ...more, expected_digest: digest }))
    const ofSent = await given.publish(someProject(), 'thing', SENT)
    assert.equal((await create(second, SENT, { ...more, expected_digest: ofSent })).status, 409)
  })

  it('is refused when the class is unknown or another than its own', async () => {
    for (const [val, builtin_object_class, reason] of [
      [{}, 'NoSuchClass', /unknown\. Known classes: ActionSpec, AgentDashboard, .*SavedView/],
      [{}, 'constructor', /unknown/],
      ['text', 'NoSuchClass', /unknown/],
      [ANNOTATION, 'Leaderboard', /_class_name/],
      [{ _class_name: 'AnnotationSpec' }, 'Provider', /_class_name/],
    ] as const) {
      const answer = await create(someProject(), val, { builtin_object_class })
      assert.match(reasonOf(answer, 400), reason)
    }
  })

  it('names the field when the value does not fit the class', async () => {
    for (const [val, builtin_object_class, problem] of [
      [{ field_schema: 7 }, 'AnnotationSpec', 'dict_type obj.val.field_schema'],
      [{ field_schema: { type: 'nonsense' } }, 'AnnotationSpec', 'value_error obj.val.field_schema'],
      [{ ...ANNOTATION, field_schema: 7 }, 'AnnotationSpec', 'dict_type obj.val.field_schema'],
      [{}, 'Leaderboard', 'missing obj.val.columns'],
      [{ columns: [{}, 1] }, 'Leaderboard', 'missing obj.val.columns.0.evaluation_object_ref'],
      [{ llm_model_id: 'a', more: 1 }, 'LLMStructuredCompletionModel', 'extra_forbidden obj.val.more'],
      [{ base_url: 'http://10.0.0.1', api_key_name: 'k' }, 'Provider', 'value_error obj.val.base_url'],
      ['text', 'Provider', 'model_attributes_type obj.val'],
      [Array.from({ length: 10_001 }, () => ({})), 'SavedView', 'too_long obj.val'],
    ] as const)
      assert.equal(told(await create(someProject(), val, { builtin_object_class }))[0], problem)
  })

  it('is kept as it is when it is serialised with its classes', async () => {
    const project = someProject()
    const dataset = { rows: 'x', _class_name: 'Dataset', _bases: ['Object', 'BaseModel'] }
    const model = {
      llm_model_id: 'gpt-4o-mini',
      predict: 'weave:///a/b/op/c:d',
      _class_name: 'LLMStructuredCompletionModel',
      _bases: ['Model', 'Object', 'BaseModel'],
    }
    for (const val of [dataset, model, { ...ANNOTATION, more: 1 }]) {
      const more = { builtin_object_class: val._class_name }
      const digest = await given.publish(project, 'thing', val, more)
      assert.deepEqual((await given.read(project, 'thing', digest)).val, val)
    }
  })

  it('is found by the last base before BaseObject', async () => {
    const project = someProject()
    const val = { _class_name: 'Sub', _bases: ['Base', ...BASES] }
    await given.publish(project, 'sub', val)
    await given.publish(project, 'other', { _class_name: 'Sub' })
    const ids = async (filter: object) =>
      (await given.query(project, { filter })).map(({ object_id }) => object_id)
    assert.deepEqual(await ids({ base_object_classes: ['Base'] }), ['sub'])
    assert.deepEqual(await ids({ leaf_object_classes: ['Sub'] }), ['sub'])
    assert.deepEqual(await ids({ exclude_base_object_classes: ['Base'] }), ['other'])
  })
})
