import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { startJobIndex } from '../../../../src/application/training/job-index.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { appendNext } from '../../../support/append-next.js'
import { until } from '../../../support/until.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.parse('2026-01-02T00:00:00Z')
const at = (ms: number) => new Date(START + ms).toISOString()
const job = { model_id: 'm', job_id: 'job' }

const queued = {
  type: 'TrainingJobQueued',
  data: { ...job, project_id: 'team/p', base_model: 'base', kind: 'rl', queued_at: at(0) },
}
const leased = (expiresAt: number, lease_id = 'lease') => ({
  type: 'TrainingJobLeased',
  data: { ...job, lease_id, worker: 'w', leased_at: at(0), expires_at: at(expiresAt) },
})
const extended = (expiresAt: number) => ({
  type: 'TrainingLeaseExtended',
  data: { ...job, lease_id: 'lease', expires_at: at(expiresAt) },
})
const lost = { type: 'TrainingLeaseEnded', data: { ...job, lease_id: 'lease', reason: 'expired' } }

/** How long the last lease of a model was held. */
const heldAfter = async (...events: readonly { readonly type: string; readonly data: JsonObject }[]) => {
  const eventStore = openInMemoryEventStore()
  await appendNext(
    eventStore,
    'trained-model-m',
    [queued, leased(MINUTE), ...events].map((event, n) => ({
      ...event,
      id: `${n}`,
      metadata: { correlationId: 'c', causationId: 'c', actor: 'test', schemaVersion: 1 },
    })),
  )
  const snapshots = { read: () => Promise.resolve(undefined), write: () => Promise.resolve() }
  const index = await startJobIndex({
    eventStore,
    snapshots,
    log: { info: () => undefined, warn: () => undefined },
  })
  await until(index.isCaughtUp)
  await index.stop()
  return index.queues()[0]!.held!.ms
}

describe('the index of training jobs', () => {
  it('counts the time between the extensions of a lease', async () => {
    assert.equal(await heldAfter(), 0)
    assert.equal(await heldAfter(extended(MINUTE + 20_000), extended(MINUTE + 50_000)), 50_000)
  })

  it('counts a longer gap as the duration of a lease, as when the computer is suspended', async () => {
    assert.equal(await heldAfter(extended(30 * HOUR), extended(30 * HOUR + 20_000)), MINUTE + 20_000)
  })

  it('does not subtract time when the clock is set back', async () => {
    assert.equal(await heldAfter(extended(90_000), extended(-HOUR), extended(-HOUR + 20_000)), 50_000)
  })

  it('continues when a late worker gets its lease back, and starts again for another lease', async () => {
    assert.equal(await heldAfter(extended(90_000), lost, leased(200_000)), 30_000 + MINUTE)
    assert.equal(await heldAfter(extended(90_000), lost, leased(200_000, 'next')), 0)
  })
})
