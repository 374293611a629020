import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'

describe('POST /service/projects_info', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const info = async (project_ids: readonly string[], options = {}) =>
    (await service.post('/service/projects_info', { project_ids }, options)).json()

  it('answers the internal id of each project, in order', async () => {
    await service.teams.create('informed')
    assert.deepEqual(await info(['informed/b', 'informed/a']), [
      { external_project_id: 'informed/b', internal_project_id: 'aW5mb3JtZWQvYg==' },
      { external_project_id: 'informed/a', internal_project_id: 'aW5mb3JtZWQvYQ==' },
    ])
  })

  it('omits what is no project', async () =>
    assert.deepEqual(await info(['', 'informed', 'a/b/c', 'informed/', '/x']), []))

  it('omits projects of other teams', async () => {
    await service.teams.create('others')
    const added = await service.post('/api/teams/others/members', { user: 'someone', roles: ['member'] })
    const { api_key: key } = added.json<{ api_key: string }>()
    assert.deepEqual(await info(['informed/a', 'others/a'], { key }), [
      { external_project_id: 'others/a', internal_project_id: 'b3RoZXJzL2E=' },
    ])
  })
})
