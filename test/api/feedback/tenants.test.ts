import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { aCompleted } from '../../support/call-requests.js'
import { accepted, reasonOf, textIn, told, writesNothing } from '../calls/given.js'
import { column, eq, refOfCall, someFeedback } from './given.js'

describe('feedback of another team', () => {
  let service: TestService
  const [own, other] = [1, 2].map(() => `team-${randomUUID().slice(0, 8)}`) as [string, string]
  let key: string

  before(async () => {
    service = await sharedService()
    for (const team of [own, other]) await service.teams.create(team).json()
    const added = await service.post(`/api/teams/${own}/members`, { user: `u-${own}`, role: 'member' })
    key = textIn(accepted(added), 'api_key')
    accepted(await service.post('/feedback/create', someFeedback(`${other}/p`, { id: 'same' })))
  })

  it('is neither seen nor purged through a project of one’s own', async () => {
    const mine = someFeedback(`${own}/p`, { id: 'same', payload: { mine: true } })
    accepted(await service.post('/feedback/create', mine, { key }))
    const query = { $expr: eq('id', 'same') }
    for (const $expr of [query.$expr, { $and: [] }, eq('project_id', `${other}/p`)]) {
      const answer = await service.in(`${own}/p`).with({ key }).feedback.query({ query: { $expr } })
      assert.ok(!answer.text.includes(other))
    }
    await service.in(`${own}/p`).with({ key }).feedback.purge({ query }).json()
    assert.deepEqual(await column(service, `${own}/p`, 'id'), [])
    assert.deepEqual(await column(service, `${other}/p`, 'id'), ['same'])
  })

  it('cannot be given by reference, in a batch, or by replacing', async () => {
    await writesNothing(service, async () => {
      const foreign = someFeedback(`${own}/p`, { weave_ref: refOfCall(`${other}/p`) })
      assert.deepEqual(told(await service.post('/feedback/create', foreign, { key })), [
        'value_error weave_ref',
      ])
      const batch = [someFeedback(`${own}/p`), someFeedback(`${other}/p`)]
      reasonOf(await service.post('/feedback/batch/create', { batch }, { key }), 404)
    })
    const replacing = { ...someFeedback(`${own}/p`), feedback_id: 'same' }
    accepted(await service.post('/feedback/replace', replacing, { key }))
    assert.deepEqual(await column(service, `${other}/p`, 'id'), ['same'])
  })

  it('does not come with one’s own calls of the same id', async () => {
    accepted(
      await service.post(`/v2/${own}/p/calls/complete`, {
        batch: [aCompleted(`${own}/p`, { id: 'some-call' })],
      }),
    )
    const body = { project_id: `${own}/p`, include_feedback: true, filter: { call_ids: ['some-call'] } }
    assert.ok(!(await service.post('/calls/query', body, { key })).text.includes(other))
  })
})
