import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'

describe('the limits of usage', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const ask = async (path: string, body: object) => {
    const { status, text } = await service.post(path, { project_id: 'default/limits', ...body })
    return status === 200 ? [status] : [status, text]
  }

  for (const path of ['/trace/usage', '/calls/usage'])
    it(`are named by the 413 of ${path} when limit is above one million`, async () => {
      const body = path === '/calls/usage' ? { call_ids: ['a'] } : {}
      assert.deepEqual(await ask(path, { ...body, limit: 1_000_000 }), [200])
      assert.deepEqual(await ask(path, { ...body, limit: 1_000_001 }), [
        413,
        '{"reason":"limit should be at most 1000000. Request fewer calls."}',
      ])
    })

  it('are named by the 413 of /calls/usage when there are too many call_ids', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, n) => `call-${n}`)
    assert.deepEqual(await ask('/calls/usage', { call_ids: ids(100_001), limit: 200_000 }), [
      413,
      '{"reason":"call_ids should have at most 100000 values. Split it into several requests."}',
    ])
  })
})
