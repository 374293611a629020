import assert from 'node:assert/strict'
import type { ModelQueue } from '../../../../src/application/training/job-index.js'
import { leaseExpiry } from '../../../../src/dispatch/training/reaper.js'

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

/** What is done with a lease at times after the start of the service. */
const doneAt = async (
  times: readonly number[],
  lease: { readonly leasedAt: number; readonly expiresAt: number },
  ownWorker = 'other',
) => {
  const done: string[] = []
  const work = {
    end: (_: object, reason: string) => Promise.resolve(void done.push(reason)),
    fail: (_: object, message: string) => Promise.resolve(void done.push(message)),
  }
  const expire = leaseExpiry({ index: { queues: () => [queueWith(lease)] }, work }, ownWorker, START)
  for (const time of times) await expire(START + time)
  return done
}

/** Every two seconds, from the start until a time. */
const until = (end: number) => Array.from({ length: Math.floor(end / 2000) }, (_, at) => (at + 1) * 2000)

describe('the reaper', () => {
  const leasedAt = START - HOUR

  it('ends a lease that has expired', async () => {
    assert.deepEqual(await doneAt(until(40_000), { leasedAt, expiresAt: START + 39_999 }), ['expired'])
    assert.deepEqual(await doneAt(until(40_000), { leasedAt, expiresAt: START + 40_000 }), [])
  })

  it('gives workers time to reach a service that was away', async () => {
    const expired = { leasedAt, expiresAt: START - HOUR / 2 }
    assert.deepEqual(await doneAt(until(30_000), expired), [])
    assert.deepEqual(await doneAt(until(32_000), expired), ['expired'])
  })

  it('gives workers time after the service got no CPU, or its clock was set', async () => {
    const lease = { leasedAt, expiresAt: START + 60_000 }
    assert.deepEqual(await doneAt([...until(40_000), 100_000, 102_000, 128_000], lease), [])
    assert.deepEqual(await doneAt([...until(40_000), HOUR, HOUR + 2000], lease), [])
    const after = Array.from({ length: 16 }, (_, at) => 100_000 + at * 2000)
    assert.deepEqual(await doneAt([...until(40_000), ...after], lease), [])
    assert.deepEqual(await doneAt([...until(40_000), ...after, 132_000], lease), ['expired'])
  })

  it('ends no lease of the worker of its own process', async () => {
    assert.deepEqual(await doneAt(until(40_000), { leasedAt, expiresAt: START + 1 }, 'w'), [])
  })

  it('fails a job that runs for more than a day', async () => {
    const long = { leasedAt: START - 24 * HOUR, expiresAt: START + HOUR }
    assert.deepEqual(await doneAt([0], long), [])
    assert.deepEqual(await doneAt([1], long), ['The job ran longer than 24 hours.'])
    assert.deepEqual(await doneAt([1], long, 'w'), ['The job ran longer than 24 hours.'])
  })
})
