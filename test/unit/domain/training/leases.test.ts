import assert from 'node:assert/strict'
import type { TrainedModelCommand } from '../../../../src/domain/training/commands.js'
import { trainedModelDecider as decider } from '../../../../src/domain/training/decider.js'
import type { ModelState } from '../../../../src/domain/training/state.js'
import { instantOf } from '../../../../src/kernel/codec/instant.js'

const at = (second: number) => instantOf(new Date(Date.UTC(2026, 0, 1) + second * 1000))
const now = at(0)
const ofJob = (lease_id: string, job_id = 'a') => ({ job_id, lease_id })

const create: TrainedModelCommand = {
  type: 'CreateModel',
  model_id: 'm',
  project_id: 'team/p',
  name: 'agent',
  base_model: 'base',
  returnExisting: true,
  now,
}
const queue = (job_id: string): TrainedModelCommand => ({
  type: 'QueueJob',
  job_id,
  kind: 'sft',
  base_model: 'base',
  now,
})
const lease = (lease_id: string, worker = 'w'): TrainedModelCommand => ({
  type: 'LeaseJob',
  lease_id,
  worker,
  now,
  expires_at: at(60),
})
const expire = (lease_id: string): TrainedModelCommand => ({
  type: 'EndLease',
  ...ofJob(lease_id),
  reason: 'expired',
  now: at(61),
})
const beat = (lease_id: string): TrainedModelCommand => ({
  type: 'ExtendLease',
  ...ofJob(lease_id),
  expires_at: at(120),
})
const step = (lease_id: string): TrainedModelCommand => ({
  type: 'LogProgress',
  ...ofJob(lease_id),
  first: 0,
  reports: [{ type: 'training_started', num_sequences: 1 }],
})
const complete = (lease_id: string): TrainedModelCommand => ({
  type: 'CompleteJob',
  ...ofJob(lease_id),
  checkpoint_id: 'c',
  artifact_id: 'v',
  step: 1,
  metrics: {},
  now,
})
const fail = (lease_id: string): TrainedModelCommand => ({
  type: 'FailJob',
  ...ofJob(lease_id),
  error_message: 'x',
  now,
})

/** The state after commands, none of which is refused. */
const after = (...commands: readonly TrainedModelCommand[]): ModelState => {
  let state = decider.initialState()
  for (const command of commands) {
    const { events, refused } = decider.decide(state, command)
    assert.equal(refused, undefined, JSON.stringify({ command, refused }))
    for (const event of events) state = decider.evolve(state, event)
  }
  return state
}

const outcome = (state: ModelState, command: TrainedModelCommand) => {
  const { events, refused } = decider.decide(state, command)
  return refused === undefined ? events.map(({ type }) => type) : refused.kind
}

describe('a lease', () => {
  const late = [create, queue('a'), queue('b'), lease('l1'), expire('l1')]

  it('is given back to a worker that is late, while no other has the job', () => {
    const again = after(...late, beat('l1'))
    assert.deepEqual([again.lease?.id, again.lease?.worker, again.lease?.expiresAt], ['l1', 'w', at(120)])
    assert.deepEqual([again.jobs.get('a')!.lost, again.queue], [0, ['b']])
    for (const command of [step('l1'), complete('l1'), fail('l1')])
      assert.notEqual(outcome(after(...late), command), 'conflict', command.type)
    const done = after(...late, complete('l1'))
    assert.deepEqual([done.jobs.get('a')!.state, done.queue], ['succeeded', ['b']])
  })

  it('that is late often costs the job nothing', () => {
    const rounds = Array.from({ length: 12 }, () => [expire('l1'), beat('l1')]).flat()
    assert.equal(after(create, queue('a'), lease('l1'), ...rounds).jobs.get('a')!.state, 'running')
  })

  it('is lost once another worker has the job, or it was given back', () => {
    const taken = after(...late, lease('l2', 'other'))
    for (const command of [beat('l1'), step('l1'), complete('l1'), fail('l1')])
      assert.equal(outcome(taken, command), 'conflict', command.type)
    assert.equal(outcome(after(...late, lease('l2'), expire('l2')), beat('l1')), 'conflict')
    const released: TrainedModelCommand = { type: 'EndLease', ...ofJob('l1'), reason: 'released', now }
    assert.equal(outcome(after(create, queue('a'), lease('l1'), released), beat('l1')), 'conflict')
  })

  it('of another worker is refused for a job that has ended, and a repeat of its own changes nothing', () => {
    for (const end of [complete('l2'), fail('l2')]) {
      const ended = after(...late, lease('l2'), end)
      assert.deepEqual(outcome(ended, end), [])
      for (const stale of ['l1', '', 'l3'])
        for (const command of [fail(stale), complete(stale), beat(stale), step(stale)])
          assert.equal(outcome(ended, command), 'conflict', `${command.type} ${stale}`)
    }
    const cancelled = after(...late, lease('l2'), { type: 'CancelJob', job_id: 'a', now })
    assert.deepEqual([outcome(cancelled, fail('l2')), outcome(cancelled, fail('l1'))], [[], 'conflict'])
  })
})
