import assert from 'node:assert/strict'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import {
  type EvaluationCommand,
  evaluationDecider,
} from '../../../../src/domain/evaluations/evaluation-run.js'
import { deciding } from '../../../support/decided.js'

const decide = deciding(evaluationDecider)
const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000000Z` as Instant
const run = { project_id: 'red/project', id: 'run' }

const request = (scorer = 'a', minute = 0) =>
  ({
    type: 'RequestEvaluationRun',
    request: {
      ...run,
      kind: 'rescore',
      requested_at: at(minute),
      wb_user_id: 'ada',
      key_id: 'key',
      scorer_refs: [`weave:///red/project/object/${scorer}:1`],
      total_rows: 3,
      source_evaluation_run_id: 'source',
      evaluation: null,
      model: null,
    },
  }) as const satisfies EvaluationCommand

const claim = (instance: string, minute: number, expiredBefore = 0) =>
  ({
    type: 'ClaimEvaluationRun',
    ...run,
    instance,
    now: at(minute),
    expiredBefore: at(expiredBefore),
  }) as const

const cancel = { type: 'CancelEvaluationRun', ...run, now: at(5), userId: 'ada' } as const

const finish = (outcome: 'completed' | 'canceled') =>
  ({
    type: 'FinishEvaluationRun',
    finished: {
      ...run,
      kind: 'rescore',
      outcome,
      finished_at: at(9),
      summary: {},
      started_at: at(1),
      evaluation: null,
      model: null,
      source_evaluation_run_id: 'source',
      display_name: null,
      error: null,
      warnings: [],
      wb_user_id: 'ada',
    },
  }) as const

describe('an evaluation run', () => {
  it('is requested once when the request is repeated', () => {
    assert.deepEqual(decide(request()).types, ['EvaluationRunRequested'])
    assert.deepEqual(decide(request(), request('a', 1)), { ...decide(request(), request()) })
    assert.deepEqual(decide(request(), request('a', 1)).types, [])
  })

  it('refuses another request under the same id', () => {
    assert.equal(decide(request('a'), request('b')).refused?.kind, 'conflict')
  })

  it('is claimed by one process until its claim expires', () => {
    assert.deepEqual(decide(request(), claim('one', 1)).types, ['EvaluationRunClaimed'])
    assert.equal(decide(request(), claim('one', 1), claim('two', 2)).refused?.kind, 'conflict')
    assert.equal(decide(request(), claim('one', 1), claim('one', 2)).refused, undefined)
    assert.equal(decide(request(), claim('one', 1), claim('two', 5, 2)).refused, undefined)
  })

  it('cannot be claimed when it is unknown or finished', () => {
    assert.equal(decide(claim('one', 1)).refused?.kind, 'not-found')
    assert.equal(decide(request(), finish('completed'), claim('one', 10)).refused?.kind, 'conflict')
  })

  it('is canceled once', () => {
    assert.deepEqual(decide(request(), cancel).types, ['EvaluationRunCancelRequested'])
    assert.deepEqual(decide(request(), cancel, cancel).types, [])
    assert.deepEqual(decide(request(), cancel, finish('canceled'), cancel).types, [])
  })

  it('refuses to cancel a run that is unknown or has finished', () => {
    assert.equal(decide(cancel).refused?.kind, 'not-found')
    assert.equal(decide(request(), finish('completed'), cancel).refused?.kind, 'conflict')
  })

  it('finishes once', () => {
    assert.deepEqual(decide(request(), finish('completed')).types, ['EvaluationRunFinished'])
    assert.deepEqual(decide(request(), finish('completed'), finish('canceled')).types, [])
  })

  it('finishes without a request when a client logged it', () => {
    assert.deepEqual(decide(finish('completed')).types, ['EvaluationRunFinished'])
  })
})
