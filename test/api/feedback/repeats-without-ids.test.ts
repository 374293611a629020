import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted } from '../calls/given.js'

/** The SDK of npm gives scores without ids, and sends them again when an answer got lost. */
describe('feedback without an id that is sent again', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const aScore = (project_id: string, more: object = {}) => ({
    project_id,
    weave_ref: `weave:///${project_id}/call/predicted`,
    feedback_type: 'wandb.runnable.right',
    payload: { output: { b: 1, a: 2 } },
    runnable_ref: `weave:///${project_id}/object/right:${'a'.repeat(43)}`,
    call_ref: `weave:///${project_id}/call/scored`,
    ...more,
  })
  const aNote = (project_id: string, note: string) => ({
    project_id,
    weave_ref: `weave:///${project_id}/call/predicted`,
    feedback_type: 'wandb.note.1',
    payload: { note },
  })
  const give = async (body: object, path = '/feedback/create') =>
    accepted(await service.post(path, body)) as JsonObject & Given
  const ids = async (project_id: string): Promise<readonly string[]> => {
    const answer = await service.in(project_id).feedback.query().json()
    return (answer['result'] as readonly (JsonObject & Given)[]).map(({ id }) => id)
  }

  it('is one score, where it names the call of its scorer', async () => {
    const project = someProject()
    const first = await give(aScore(project))
    assert.deepEqual(await give(aScore(project, { payload: { output: { a: 2, b: 1 } } })), first)
    const many = await Promise.all(Array.from({ length: 5 }, () => give(aScore(project))))
    assert.deepEqual(new Set(many.map(({ id }) => id)), new Set([first.id]))
    assert.deepEqual(await ids(project), [first.id])
  })

  it('is another score with anything else in it', async () => {
    const project = someProject()
    const given = await Promise.all(
      [
        {},
        { call_ref: `weave:///${project}/call/other` },
        { payload: { output: 1 } },
        { runnable_ref: `weave:///${project}/object/right:${'b'.repeat(43)}` },
        { creator: 'ada' },
      ].map((more) => give(aScore(project, more))),
    )
    assert.equal(new Set(given.map(({ id }) => id)).size, 5)
    assert.equal((await ids(project)).length, 5)
  })

  it('is given twice, where it may be meant twice', async () => {
    const project = someProject()
    const note = aNote(project, 'again')
    assert.notEqual((await give(note)).id, (await give(note)).id)
    assert.equal((await ids(project)).length, 2)
  })

  it('can be seen again when it was purged between', async () => {
    const project = someProject()
    const { id } = await give(aScore(project))
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } }
    await service.in(project).feedback.purge({ query }).json()
    const again = await give(aScore(project))
    assert.notEqual(again.id, id)
    assert.deepEqual(await ids(project), [again.id])
  })

  it('replaces once, also in a chain, and itself by the same', async () => {
    const project = someProject()
    const replace = (feedback_id: string, body: object) => give({ ...body, feedback_id }, '/feedback/replace')
    const first = await give(aNote(project, 'one'))
    const second = await replace(first.id, aNote(project, 'two'))
    assert.deepEqual(await replace(first.id, aNote(project, 'two')), second)
    const third = await replace(second.id, aNote(project, 'one'))
    assert.deepEqual(await ids(project), [third.id])
    const score = await give(aScore(project))
    const same = await replace(score.id, aScore(project))
    assert.deepEqual([...(await ids(project))].sort(), [third.id, same.id].sort())
  })
})

interface Given {
  readonly id: string
}
