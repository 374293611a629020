import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, reasonOf, told, writesNothing } from '../calls/given.js'
import { objectsOf } from './given.js'

describe('deleting versions of an object', () => {
  let service: TestService
  let given: ReturnType<typeof objectsOf>
  before(async () => {
    service = await sharedService()
    given = objectsOf(service)
  })

  it('counts them, and leaves the others', async () => {
    const project = someProject()
    const digests = await Promise.all([1, 2, 3].map((val) => given.publish(project, 'thing', val)))
    assert.deepEqual(accepted(await given.remove(project, 'thing', [digests[1]!, digests[1]!])), {
      num_deleted: 1,
    })
    assert.equal((await given.query(project)).length, 2)
    assert.deepEqual(accepted(await given.remove(project, 'thing', null)), { num_deleted: 2 })
    assert.deepEqual(await given.query(project), [])
  })

  it('is a 404 where there are none, and then writes nothing', async () => {
    const project = someProject()
    const digest = await given.publish(project, 'thing', 1)
    await given.publish(project, 'thing', 2)
    await writesNothing(service, async () => {
      reasonOf(await given.remove(project, 'thing', [digest, 'nothing', 'latest']), 404)
      reasonOf(await given.remove(project, 'other'), 404)
      reasonOf(await given.remove(project, 'thing', ["'", '\u0000', 'x'.repeat(100_000)]), 404)
    })
    accepted(await given.remove(project, 'thing'))
    await writesNothing(service, async () => {
      reasonOf(await given.remove(project, 'thing'), 404)
      reasonOf(await given.remove(project, 'thing', [digest]), 404)
    })
  })

  it('gives content that comes back its number, and new content the next', async () => {
    const project = someProject()
    const first = await given.publish(project, 'thing', 1)
    await given.publish(project, 'thing', 2)
    accepted(await given.remove(project, 'thing'))
    assert.equal(await given.publish(project, 'thing', 1), first)
    const { version_index, is_latest } = await given.read(project, 'thing', 'latest')
    assert.deepEqual([version_index, is_latest], [0, 1])
    await given.publish(project, 'thing', 3)
    assert.equal((await given.read(project, 'thing', 'latest')).version_index, 2)
  })

  it('happens once when many do it at a time', async () => {
    const project = someProject()
    const digest = await given.publish(project, 'thing', 1)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => given.remove(project, 'thing', [digest])),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array<number>(7).fill(404)])
    const events = await eventsOf(service, `object-${project}/thing`)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ObjectPublished', 'ObjectDeleted'],
    )
  })

  it('is strict', async () => {
    const project_id = someProject()
    await given.publish(project_id, 'thing', 1)
    const ask = (more: object) => service.in(project_id).objects.delete({ object_id: 'thing', ...more })
    assert.deepEqual(told(await ask({ digests: [] })), ['too_short digests'])
    assert.deepEqual(told(await ask({ digests: [7] })), ['string_type digests.0'])
    assert.deepEqual(told(await ask({ object_id: 'a:b' })), ['string_pattern_mismatch object_id'])
    assert.match(reasonOf(await ask({ digests: Array(101).fill('v0') }), 400), /100/)
    accepted(await ask({ digests: Array(100).fill('v0'), wb_user_id: null }))
  })
})
