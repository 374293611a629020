import assert from 'node:assert/strict'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import type { TestService } from '../../support/service.js'

describe('the names of a project', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const publish = async (project_id: string, object_id: string, val: unknown, more: object = {}) =>
    accepted(await service.post('/obj/create', { obj: { project_id, object_id, val, ...more } }))
  const namesIn = async (project: string, search = '') => {
    const { data } = accepted(
      await service.send('GET', `/api/pages/names?project_id=${project}${search}`),
    ) as unknown as { data: { name: string; class: string; digest: string }[] }
    return data.map(({ name, class: of }) => `${of} ${name}`)
  }

  it('are those of the newest versions that contain a text, the last changed first', async () => {
    const project = someProject()
    const dataset = (rows: string) => ({
      _type: 'Dataset',
      _class_name: 'Dataset',
      _bases: ['Object', 'BaseModel'],
      rows,
    })
    await publish(project, 'Orders-2025', dataset('one'))
    await publish(project, 'Orders-2025', dataset('two'))
    await publish(project, 'settings', { a: 1 })
    await publish(project, 'orders_prompt', { text: 'x' })
    assert.deepEqual(await namesIn(project, '&contains=ORDERS'), [
      'Object orders_prompt',
      'Dataset Orders-2025',
    ])
    assert.equal((await namesIn(project)).length, 3)
    assert.deepEqual(await namesIn(project, '&limit=1'), ['Object orders_prompt'])
  })

  it('are without those of deleted objects and of other projects', async () => {
    const project = someProject()
    await publish(project, 'gone', { a: 1 })
    await publish(someProject(), 'elsewhere', { a: 1 })
    accepted(await service.post('/obj/delete', { project_id: project, object_id: 'gone' }))
    assert.deepEqual(await namesIn(project), [])
  })

  it('are at most 50', async () => {
    const path = `/api/pages/names?project_id=${someProject()}&limit=51`
    assert.equal((await service.send('GET', path)).status, 422)
  })
})
