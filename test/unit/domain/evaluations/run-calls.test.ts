import assert from 'node:assert/strict'
import { opOf, roleOf, scorerNameOf } from '../../../../src/domain/evaluations/run-calls.js'
import { anEvaluationCall } from './given.js'
import { recordedRun } from './recorded-runs.js'

const rolesOf = (name: Parameters<typeof recordedRun>[0]) => {
  const { calls } = recordedRun(name)
  const byId = new Map(calls.map((call) => [call.id, call]))
  return [...new Set(calls.map((call) => `${opOf(call)}: ${roleOf(call, byId.get(call.parent_id ?? ''))}`))]
}

describe('the roles of the calls of an evaluation run', () => {
  it('are recognised when Evaluation.evaluate of npm ran', () => {
    assert.deepEqual(rolesOf('npm-evaluation'), [
      'Evaluation.evaluate: run',
      'Evaluation.predictAndScore: row',
      'capital_of: prediction',
      'exact: score',
      'judged: score',
    ])
  })

  it('are recognised when the EvaluationLogger of npm ran', () => {
    assert.deepEqual(rolesOf('npm-evaluation-logger'), [
      'Evaluation.evaluate: run',
      'Evaluation.predict_and_score: row',
      'Model.predict: prediction',
      'correct.score: score',
      'error.score: score',
      'Evaluation.summarize: summary',
    ])
  })

  const row = anEvaluationCall({
    op_name: 'Evaluation.predict_and_score',
    inputs: { model: 'weave:///team/p/object/m:abc', example: { output: 1 } },
    output: { output: 2, scores: { accuracy: true } },
  })

  for (const [title, call, role] of [
    [
      'a method of the model object',
      { op_name: 'M.run', inputs: { self: row.inputs['model']! } },
      'prediction',
    ],
    [
      'a column named output',
      { op_name: 'M.run', inputs: { self: row.inputs['model']!, output: 1 } },
      'prediction',
    ],
    ['a function with the name of a score', { op_name: 'accuracy' }, 'score'],
    ['a function that is given the output', { op_name: 'f', inputs: { model_output: 2 } }, 'score'],
    ['a method score', { op_name: 'weave:///team/p/op/Judge.score:abc' }, 'score'],
    [
      'a method predict',
      { op_name: 'weave:///team/p/op/Chat.predict:abc', inputs: { output: 1 } },
      'prediction',
    ],
    ['another function', { op_name: 'f' }, 'prediction'],
    ['the mark of the EvaluationLogger', { attributes: { _weave_eval_meta: { score: true } } }, 'score'],
    ['the mark of a prediction', { attributes: { weave: { prediction: 'true' } } }, 'prediction'],
    ['the mark of a score', { attributes: { weave: { score: 'true' } } }, 'score'],
  ] as const)
    it(`are told apart in a row by ${title}`, () => assert.equal(roleOf(anEvaluationCall(call), row), role))

  it('are none outside of rows', () => {
    for (const parent of [undefined, anEvaluationCall({ op_name: 'Evaluation.evaluate' })])
      assert.equal(roleOf(anEvaluationCall({ op_name: 'accuracy' }), parent), 'other')
  })
})

describe('the name of a scorer', () => {
  const named = (call: Parameters<typeof anEvaluationCall>[0], known: readonly string[] = []) =>
    scorerNameOf(anEvaluationCall(call), known)

  it('is that of the scorer object, else of the op', () => {
    const self = 'weave:///team/p/object/judge:abc'
    assert.equal(named({ op_name: 'Judge.score', inputs: { self } }), 'judge')
    assert.equal(named({ op_name: 'weave:///team/p/op/exact.score:abc' }), 'exact')
    assert.equal(named({ op_name: 'exact' }), 'exact')
    assert.equal(named({ attributes: { weave: { scorer: self } } }), 'judge')
  })

  it('is the name in the scores of the row when one fits', () => {
    const self = 'weave:///team/p/object/my-judge:abc'
    assert.equal(named({ op_name: 'Judge.score', inputs: { self } }, ['Judge']), 'Judge')
    assert.equal(named({ op_name: 'Judge.score', inputs: { self } }, ['other', 'My judge']), 'My judge')
  })
})
