import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { TrainedModelCommand } from '../../../../src/domain/training/commands.js'
import { trainedModelDecider as decider } from '../../../../src/domain/training/decider.js'
import type { ModelState } from '../../../../src/domain/training/state.js'
import type { TrainedModelEvent } from '../../../../src/domain/training/events.js'
import { instantOf } from '../../../../src/kernel/codec/instant.js'

const now = instantOf(new Date('2026-01-01T00:00:00Z'))
const created: TrainedModelCommand = {
  type: 'CreateModel',
  model_id: 'm',
  project_id: 'team/project',
  name: 'agent',
  base_model: 'tiny/byte',
  returnExisting: true,
  now,
}

/** The state and the events after commands; refused commands write nothing. */
const after = (commands: readonly TrainedModelCommand[]) => {
  let state: ModelState = decider.initialState()
  const events: TrainedModelEvent[] = []
  for (const command of commands) {
    const decided = decider.decide(state, command)
    for (const event of decided.events) {
      events.push(event)
      state = decider.evolve(state, event)
    }
  }
  return { state, events }
}

const job = fc.constantFrom('a', 'b', 'c')
const lease = fc.constantFrom('l1', 'l2', 'l3', 'l4')
const held = { job_id: job, lease_id: lease }
const progress = fc.oneof(
  fc.record({ type: fc.constant('training_started' as const), num_sequences: fc.nat(9) }),
  fc.record({ type: fc.constant('gradient_step' as const), metrics: fc.constant({ loss: 1 }) }),
)
const command: fc.Arbitrary<TrainedModelCommand> = fc.oneof(
  fc.record({
    type: fc.constant('QueueJob' as const),
    job_id: job,
    kind: fc.constant('rl' as const),
    base_model: fc.constant('tiny/byte'),
    now: fc.constant(now),
  }),
  fc.record({
    type: fc.constant('LeaseJob' as const),
    lease_id: lease,
    worker: fc.constant('w'),
    now: fc.constant(now),
    expires_at: fc.constant(now),
  }),
  fc.record({ type: fc.constant('ExtendLease' as const), ...held, expires_at: fc.constant(now) }),
  fc.record({
    type: fc.constant('EndLease' as const),
    ...held,
    reason: fc.constantFrom('expired' as const, 'released' as const),
    now: fc.constant(now),
  }),
  fc.record({
    type: fc.constant('LogProgress' as const),
    ...held,
    first: fc.nat(4),
    reports: fc.array(progress, { maxLength: 4 }),
  }),
  fc.record({
    type: fc.constant('CompleteJob' as const),
    ...held,
    checkpoint_id: fc.constant('c'),
    artifact_id: fc.constant('v'),
    step: fc.nat(9),
    metrics: fc.constant({}),
    now: fc.constant(now),
  }),
  fc.record({
    type: fc.constant('FailJob' as const),
    ...held,
    error_message: fc.constant('broken'),
    now: fc.constant(now),
  }),
  fc.record({ type: fc.constant('CancelJob' as const), job_id: job, now: fc.constant(now) }),
)

const jobOf = ({ data }: TrainedModelEvent): string | undefined =>
  'job_id' in data ? data.job_id : undefined
const isEnd = ({ type }: TrainedModelEvent): boolean => type === 'TrainingEnded' || type === 'TrainingFailed'

describe('a model with its jobs', () => {
  it('ends each job at most once, and reports nothing of it afterwards', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const { events } = after([created, ...commands])
        for (const id of ['a', 'b', 'c']) {
          const own = events.filter((event) => jobOf(event) === id)
          const end = own.findIndex(isEnd)
          assert.ok(end < 0 || end === own.length - 1, JSON.stringify(own))
        }
      }),
    )
  })

  it('runs one job at a time, and the jobs in the order in which they were queued', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const { events } = after([created, ...commands])
        let running: string | undefined
        const waiting: string[] = []
        for (const event of events) {
          const id = jobOf(event)!
          if (event.type === 'TrainingJobQueued') waiting.push(id)
          if (event.type === 'TrainingJobLeased') {
            assert.equal(running, undefined)
            assert.equal(waiting.shift(), id)
            running = id
          }
          if (event.type === 'TrainingLeaseEnded') waiting.unshift(id)
          if (event.type === 'TrainingLeaseEnded' || isEnd(event)) {
            if (running === id) running = undefined
            const at = isEnd(event) ? waiting.indexOf(id) : -1
            if (at >= 0) waiting.splice(at, 1)
          }
        }
      }),
    )
  })

  it('logs the start before the gradient steps, and each number once', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const { events } = after([created, ...commands])
        for (const id of ['a', 'b', 'c']) {
          const numbers = events.flatMap((event) => {
            if (jobOf(event) !== id) return []
            if (event.type === 'TrainingStarted') return [0]
            return event.type === 'GradientStepLogged' ? [event.data.sequence] : []
          })
          assert.deepEqual(
            numbers,
            numbers.map((_, at) => at),
          )
        }
      }),
    )
  })

  it('lets only the worker with the lease write', () => {
    const queued: TrainedModelCommand = { type: 'QueueJob', job_id: 'a', kind: 'rl', base_model: 'x', now }
    const leased: TrainedModelCommand = {
      type: 'LeaseJob',
      lease_id: 'l1',
      worker: 'w',
      now,
      expires_at: now,
    }
    const { state } = after([created, queued, leased])
    const late = { job_id: 'a', lease_id: 'l2' }
    for (const command of [
      { type: 'ExtendLease', ...late, expires_at: now },
      { type: 'LogProgress', ...late, first: 0, reports: [] },
      { type: 'CompleteJob', ...late, checkpoint_id: 'c', artifact_id: 'v', step: 1, metrics: {}, now },
      { type: 'FailJob', ...late, error_message: '', now },
    ] as const)
      assert.equal(decider.decide(state, command).refused?.kind, 'conflict', command.type)
    assert.deepEqual(decider.decide(state, { type: 'EndLease', ...late, reason: 'expired', now }).events, [])
  })

  it('fails a job whose workers are lost five times without progress', () => {
    const commands: TrainedModelCommand[] = [
      created,
      { type: 'QueueJob', job_id: 'a', kind: 'sft', base_model: 'x', now },
    ]
    const loseOne = (lease_id: string) => {
      commands.push(
        { type: 'LeaseJob', lease_id, worker: 'w', now, expires_at: now },
        { type: 'EndLease', job_id: 'a', lease_id, reason: 'expired', now },
      )
    }
    for (const id of ['l1', 'l2', 'l3', 'l4']) loseOne(id)
    assert.equal(after(commands).state.jobs.get('a')?.state, 'queued')
    loseOne('l5')
    assert.equal(after(commands).state.jobs.get('a')?.state, 'failed')
  })

  it('writes nothing for a repeated command', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), command, (commands, last) => {
        fc.pre(last.type !== 'LeaseJob' && last.type !== 'ExtendLease' && last.type !== 'EndLease')
        const { state } = after([created, ...commands])
        const { events } = decider.decide(state, last)
        const next = events.reduce(decider.evolve, state)
        const again = decider.decide(next, last)
        assert.deepEqual(again.events, [], JSON.stringify([last, events]))
      }),
    )
  })

  it('fails the jobs of a deleted model, and begins afresh under the same name', () => {
    const { state, events } = after([
      created,
      { type: 'QueueJob', job_id: 'a', kind: 'rl', base_model: 'x', now },
      { type: 'DeleteModel', now },
      created,
    ])
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ModelCreated', 'TrainingJobQueued', 'TrainingFailed', 'ModelDeleted', 'ModelCreated'],
    )
    // The client of an ended job may still read it.
    assert.deepEqual([[...state.jobs.keys()], state.queue, state.lastStep], [['a'], [], 0])
  })
})
