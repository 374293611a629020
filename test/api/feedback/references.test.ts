import assert from 'node:assert/strict'
import type { Client } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { reasonOf, writesNothing } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { someFeedback } from './given.js'

describe('what feedback refers to', () => {
  let service: TestService
  let client: Client
  let project: string
  before(async () => (service = await sharedService()))
  beforeEach(() => (client = service.in((project = someProject()))))

  const column = (field_schema: unknown, name = 'col') =>
    client.objects.publish(name, { _type: 'AnnotationSpec', name, field_schema })
  const annotation = (annotation_ref: string, value: unknown) =>
    someFeedback(project, { feedback_type: 'wandb.annotation.col', annotation_ref, payload: { value } })
  const give = (body: object) => client.feedback.create(body)
  const refuses = async (body: object, reason: RegExp) =>
    writesNothing(service, async () => {
      assert.match(reasonOf(await give(body), 400), reason)
      const batch = [someFeedback(project), { ...someFeedback(project), ...body }]
      const answer = await client.post('/feedback/batch/create', { batch })
      assert.match(reasonOf(answer, 400), new RegExp(`^batch\\.1\\.${reason.source.slice(1)}`))
      const replaced = await client.feedback.replace({ ...body, feedback_id: 'absent' })
      assert.match(reasonOf(replaced, 400), reason)
    })

  it('is a version of an annotation column that exists', async () => {
    const ref = await column({ type: 'integer', maximum: 10 })
    await give(annotation(ref, 7)).json()
    await give(annotation(`weave:///${project}/object/col:latest`, 10)).json()
    await refuses(annotation(`weave:///${project}/object/col`, 1), /^annotation_ref: .*version/)
    await refuses(annotation(`weave:///${project}/object/col:`, 1), /^annotation_ref: .*version/)
    await refuses(annotation(`weave:///${project}/object/col:v7`, 1), /^annotation_ref: .*not exist/)
    await refuses(annotation(`weave:///team-x/p/object/col:v0`, 1), /^annotation_ref: .*not exist/)
    await client.objects.delete({ object_id: 'col' })
    await refuses(annotation(ref, 1), /^annotation_ref: .*not exist/)
  })

  it('is not a column of a team that the key cannot read', async () => {
    const foreign = await column(null)
    const team = someProject().split('/')[0]!
    await service.teams.create(team)
    const key = await service.teams.keyOf(team, `u-${team}`, 'member')
    const own = { ...annotation(foreign, 1), project_id: `${team}/p`, weave_ref: `weave:///${team}/p/call/c` }
    reasonOf(await service.with({ key }).feedback.create(own), 400)
    await service.feedback.create(own).json()
  })

  it('gets only values that fit the schema of the column', async () => {
    const cases: readonly (readonly [schema: unknown, fits: readonly unknown[], not: readonly unknown[]])[] =
      [
        [{ type: 'integer', maximum: 10 }, [10, -1, 2.0], ['text', 42, 1.5, null]],
        [{ type: 'string', enum: ['a', 'b'] }, ['a'], ['c', 1]],
        [{ type: 'string', pattern: '^(a+)+$' }, ['aaa'], [`${'a'.repeat(50)}!`]],
        [{ type: 'array', items: { type: 'boolean' } }, [[], [true]], [[1], {}]],
        [{ $ref: '#/$defs/n', $defs: { n: { type: 'number' } } }, [1], ['1']],
        [null, ['anything', 1, null], []],
        [{}, [1, 'a'], []],
      ]
    for (const [index, [schema, fits, not]] of cases.entries()) {
      const ref = (await column(schema)).replace(/:[^:]*$/, `:v${index}`)
      for (const value of fits) await give(annotation(ref, value)).json()
      for (const value of not) await refuses(annotation(ref, value), /^payload\.value: /)
    }
  })

  it('is refused when the schema is hostile', async () => {
    const recursive = { anyOf: [{ $ref: '#' }, { $ref: '#' }], type: 'array', items: { $ref: '#' } }
    const elsewhere = { $ref: 'https://example.com/schema.json' }
    const alternatives = {
      anyOf: Array.from({ length: 5000 }, (_, i) => ({ type: 'object', required: [`p${i}`] })),
    }
    for (const schema of [recursive, elsewhere, alternatives, { type: 'nonsense' }]) {
      const ref = await column(schema)
      reasonOf(await give(annotation(ref, [[[]]])), 400)
    }
  })

  it('is a version of a runnable, with its output, and a call if it is an op', async () => {
    const runnable = (more: object) =>
      someFeedback(project, {
        feedback_type: 'wandb.runnable.f',
        runnable_ref: `weave:///${project}/op/f:d`,
        call_ref: `weave:///${project}/call/c`,
        payload: { output: 1 },
        ...more,
      })
    await give(runnable({})).json()
    await give(runnable({ payload: { output: null } })).json()
    await give(runnable({ runnable_ref: `weave:///${project}/object/f:d`, call_ref: null })).json()
    await refuses(runnable({ runnable_ref: `weave:///${project}/op/f` }), /^runnable_ref: .*version/)
    await refuses(
      runnable({ runnable_ref: `weave:///${project}/object/f`, call_ref: null }),
      /^runnable_ref: /,
    )
    await refuses(runnable({ call_ref: null }), /^call_ref: /)
    await refuses(runnable({ payload: { result: 1 } }), /^payload\.output: /)
  })

  it('is an annotation queue of the project that is not deleted', async () => {
    const queue_id = await client.queues.create('q')
    await give(someFeedback(project, { queue_id })).json()
    await give(someFeedback(project, { queue_id: '' })).json()
    for (const other of ['absent', 'x'.repeat(300)])
      await refuses(someFeedback(project, { queue_id: other }), /^queue_id: no such annotation queue/)
    const elsewhere = `${project}2`
    reasonOf(await service.feedback.create(someFeedback(elsewhere, { queue_id })), 400)
    await client.send('DELETE', `/annotation_queues/${queue_id}?project_id=${project}`)
    await refuses(someFeedback(project, { queue_id }), /^queue_id: no such annotation queue/)
  })
})
