import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'

describe('the limit of /trace/usage', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const ask = (limit: number) => service.post('/trace/usage', { project_id: 'default/limits', limit })

  it('is a 413 that names it when it is above one million', async () => {
    assert.equal((await ask(1_000_000)).status, 200)
    const { status, text } = await ask(1_000_001)
    assert.deepEqual(
      [status, text],
      [413, '{"reason":"limit should be at most 1000000. Request fewer calls, or narrow the filter."}'],
    )
  })
})
