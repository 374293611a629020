import assert from 'node:assert/strict'
import type { ModelQueue } from '../../../../src/application/training/job-index.js'
import { expireLeases } from '../../../../src/dispatch/training/reaper.js'

const HOUR = 3600 * 1000
const START = Date.parse('2026-01-02T00:00:00Z')

const queueWith = (lease: { readonly leasedAt: number; readonly expiresAt: number }): ModelQueue => ({
  model_id: 'm',
  project_id: 'team/p',
  base_model: 'base',
  queued: [],
  lease: {
    job_id: 'job',
    lease_id: 'lease',
    worker: 'w',
    leased_at: new Date(lease.leasedAt).toISOString(),
    expires_at: new Date(lease.expiresAt).toISOString(),
  },
})

/** What is done with a lease at a time after the start of the service. */
const doneAt = async (
  afterStart: number,
  lease: { readonly leasedAt: number; readonly expiresAt: number },
) => {
  const done: string[] = []
  const work = {
    end: (_: object, reason: string) => Promise.resolve(void done.push(reason)),
    fail: (_: object, message: string) => Promise.resolve(void done.push(message)),
  }
  const index = { queues: () => [queueWith(lease)] }
  await expireLeases({ index, work }, START + afterStart, START)
  return done
}

describe('the reaper', () => {
  const leasedAt = START - HOUR

  it('ends a lease that has expired', async () => {
    assert.deepEqual(await doneAt(HOUR, { leasedAt, expiresAt: START + HOUR - 1 }), ['expired'])
    assert.deepEqual(await doneAt(HOUR, { leasedAt, expiresAt: START + HOUR }), [])
  })

  it('gives workers time to reach a service that was away', async () => {
    const expired = { leasedAt, expiresAt: START - HOUR / 2 }
    assert.deepEqual(await doneAt(1000, expired), [])
    assert.deepEqual(await doneAt(31_000, expired), ['expired'])
  })

  it('fails a job that runs for more than a day', async () => {
    const long = { leasedAt: START - 24 * HOUR, expiresAt: START + HOUR }
    assert.deepEqual(await doneAt(0, long), [])
    assert.deepEqual(await doneAt(1, long), ['The job ran longer than 24 hours.'])
  })
})
