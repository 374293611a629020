import assert from 'node:assert/strict'
import { sha256 } from '../../../../../src/adapters/system/system.js'
import { isOfEvaluation, isSampled, scoreIdOf } from '../../../../../src/domain/evaluations/rules/sampling.js'
import type { JsonObject } from '../../../../../src/kernel/json/json.js'

const sampled = (rate: number, rule = 'r') =>
  Array.from({ length: 2000 }, (_, at) => `call-${at}`).filter((id) => isSampled(sha256, rate, rule, id))

describe('sampling calls', () => {
  it('selects about the fraction, and all at 1', () => {
    assert.equal(sampled(1).length, 2000)
    const fraction = sampled(0.25).length / 2000
    assert.ok(fraction > 0.2 && fraction < 0.3, String(fraction))
    assert.deepEqual(sampled(Number.MIN_VALUE), [])
  })

  it('decides the same when repeated, and contains every smaller sample', () => {
    assert.deepEqual(sampled(0.25), sampled(0.25))
    const larger = new Set(sampled(0.5))
    assert.ok(sampled(0.25).every((id) => larger.has(id)))
  })

  it('is independent for each rule', () => assert.notDeepEqual(sampled(0.25), sampled(0.25, 'other')))
})

describe('the id of a score', () => {
  it('differs by project, rule, call and scorer', () => {
    const ids = [
      scoreIdOf(sha256, 'team/p', 'r', 'c', 's'),
      scoreIdOf(sha256, 'team/q', 'r', 'c', 's'),
      scoreIdOf(sha256, 'team/p', 'q', 'c', 's'),
      scoreIdOf(sha256, 'team/p', 'r', 'd', 's'),
      scoreIdOf(sha256, 'team/p', 'r', 'c', 't'),
    ]
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(ids[0], scoreIdOf(sha256, 'team/p', 'r', 'c', 's'))
  })
})

describe('a call of an evaluation', () => {
  const is = (op_name: string, attributes: JsonObject = {}) => isOfEvaluation({ op_name, attributes })

  it('is a run, part of one, or the scorer of a rule', () => {
    assert.ok(is('Evaluation.evaluate'))
    assert.ok(is('weave:///team/p/op/Evaluation.evaluate:abc'))
    assert.ok(is('run', { weave: { evaluation_run: 'true' } }))
    assert.ok(is('predict', { tallytree: { evaluation_run_id: 'r' } }))
    assert.ok(is('s.score', { tallytree: { evaluation_rule_id: 'r' } }))
    assert.ok(is('predict', { weave: { evaluation_run_id: 'r', prediction: 'true' } }))
    assert.ok(is('s', { _weave_eval_meta: { score: true } }))
  })

  it('is no other call', () => {
    assert.ok(!is('answer'))
    assert.ok(!is('answer', { tallytree: 'text', weave: [], other: { evaluation_run_id: 'r' } }))
  })
})
