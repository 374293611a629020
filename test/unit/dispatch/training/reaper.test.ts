import assert from 'node:assert/strict'
import type { ModelQueue } from '../../../../src/application/training/job-index.js'
import { leaseExpiry } from '../../../../src/dispatch/training/reaper.js'

const HOUR = 3600 * 1000
const START = Date.parse('2026-01-02T00:00:00Z')

interface GivenLease {
  readonly expiresAt: number
  readonly heldMs?: number
}

const queueWith = ({ expiresAt, heldMs = HOUR }: GivenLease): ModelQueue => ({
  model_id: 'm',
  project_id: 'team/p',
  base_model: 'base',
  queued: [],
  lease: { job_id: 'job', lease_id: 'lease', worker: 'w', expires_at: new Date(expiresAt).toISOString() },
  held: { lease_id: 'lease', ms: heldMs },
})

/** What is done with a lease at times after the start of the service. */
const doneAt = async (times: readonly number[], lease: GivenLease, ownWorker = 'other') => {
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
  it('ends a lease that has expired', async () => {
    assert.deepEqual(await doneAt(until(40_000), { expiresAt: START + 39_999 }), ['expired'])
    assert.deepEqual(await doneAt(until(40_000), { expiresAt: START + 40_000 }), [])
  })

  it('gives workers time to reach a service that was away', async () => {
    const expired = { expiresAt: START - HOUR / 2 }
    assert.deepEqual(await doneAt(until(30_000), expired), [])
    assert.deepEqual(await doneAt(until(32_000), expired), ['expired'])
  })

  it('gives workers time after the service got no CPU, or its clock was set', async () => {
    const lease = { expiresAt: START + 60_000 }
    assert.deepEqual(await doneAt([...until(40_000), 100_000, 102_000, 128_000], lease), [])
    assert.deepEqual(await doneAt([...until(40_000), HOUR, HOUR + 2000], lease), [])
    const after = Array.from({ length: 16 }, (_, at) => 100_000 + at * 2000)
    assert.deepEqual(await doneAt([...until(40_000), ...after], lease), [])
    assert.deepEqual(await doneAt([...until(40_000), ...after, 132_000], lease), ['expired'])
  })

  it('ends no lease of the worker of its own process', async () => {
    assert.deepEqual(await doneAt(until(40_000), { expiresAt: START + 1 }, 'w'), [])
  })

  it('fails a job that was held for more than a day', async () => {
    const expiresAt = START + HOUR
    const failed = ['The job ran longer than 24 hours.']
    assert.deepEqual(await doneAt([1], { expiresAt, heldMs: 24 * HOUR }), [])
    assert.deepEqual(await doneAt([1], { expiresAt, heldMs: 24 * HOUR + 1 }), failed)
    assert.deepEqual(await doneAt([1], { expiresAt, heldMs: 24 * HOUR + 1 }, 'w'), failed)
  })
})
