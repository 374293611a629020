import assert from 'node:assert/strict'
import fc from 'fast-check'
import { sha256 } from '../../../../src/adapters/system/system.js'
import { exampleDigest, rowOfCalls, type RowCalls } from '../../../../src/domain/evaluations/rows-of-calls.js'
import { contentDigest } from '../../../../src/domain/objects/weave-digest.js'
import { anEvaluationCall, at } from './given.js'
import { recordedRun, rowsIn } from './recorded-runs.js'

const rowOf = rowOfCalls(sha256)

describe('the rows of a recorded run', () => {
  it('have the examples, outputs and scores of Evaluation.evaluate of npm', () => {
    const rows = rowsIn(recordedRun('npm-evaluation')).map(rowOf)
    assert.equal(rows.length, 5)
    for (const { example, exampleDigest: digest } of rows)
      assert.ok((example as string).endsWith(`/id/${digest}`))
    const [paris, kyoto, atlantis] = rows
    assert.deepEqual(paris?.output, {
      text: 'Paris',
      model: 'guesser',
      usage: { prompt_tokens: 10, completion_tokens: 6 },
    })
    assert.equal(paris.totalTokens, 16)
    assert.deepEqual(
      rows.map(({ scores }) => scores['exact']),
      [true, false, undefined, true, true],
    )
    assert.deepEqual(kyoto?.scores['judged'], {
      points: 0.5,
      capitalised: true,
      model: 'judge',
      usage: { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 },
    })
    assert.deepEqual(Object.keys(kyoto.scoreIds).sort(), ['exact', 'judged'])
    assert.equal(atlantis?.exception, 'Atlantis is not on the map')
    assert.equal(atlantis.output, null)
    assert.equal(atlantis.totalTokens, null)
    assert.equal(atlantis.modelLatency, 1.242)
  })

  it('have the examples, outputs and scores of the EvaluationLogger of npm', () => {
    const rows = rowsIn(recordedRun('npm-evaluation-logger')).map(rowOf)
    assert.deepEqual(
      rows.map(({ example, output, scores }) => [example, output, scores]),
      [
        [{ a: 1, b: 2 }, 3, { correct: true, error: 0 }],
        [{ a: 2, b: 2 }, 5, { correct: false, error: 1 }],
        [{ a: 3, b: 4 }, 7, { correct: true, error: 0 }],
      ],
    )
    for (const { scoreIds, predictionId, exception } of rows) {
      assert.deepEqual(Object.keys(scoreIds).sort(), ['correct', 'error'])
      assert.notEqual(predictionId, null)
      assert.equal(exception, null)
    }
  })

  it('have the same scores when the outputs of the rows are lost, from score calls and from feedback', () => {
    const whole = rowsIn(recordedRun('npm-evaluation-logger'))
    const expected = whole.map((calls) => rowOf(calls).scores)
    const unfinished = whole.map((calls) => ({ ...calls, row: { ...calls.row, output: null } }))
    assert.deepEqual(
      unfinished.map((calls) => rowOf({ ...calls, feedback: [] }).scores),
      expected,
    )
    const unscored = ({ children }: RowCalls) => children.filter(({ attributes }) => !isScore(attributes))
    assert.deepEqual(
      unfinished.map((calls) => rowOf({ ...calls, children: unscored(calls) }).scores),
      expected,
    )
  })

  it('do not depend on the order in which the calls were read', () => {
    const whole = rowsIn(recordedRun('npm-evaluation'))
    fc.assert(
      fc.property(
        fc
          .constantFrom(...whole)
          .chain((calls) =>
            fc.tuple(
              fc.constant(calls),
              fc.shuffledSubarray([...calls.children], { minLength: calls.children.length }),
            ),
          ),
        ([calls, children]) => assert.deepEqual(rowOf({ ...calls, children }), rowOf(calls)),
      ),
    )
  })
})

const isScore = (attributes: object): boolean => JSON.stringify(attributes).includes('"score":true')

describe('a row', () => {
  const row = anEvaluationCall({ id: 'row', op_name: 'Evaluation.predict_and_score', ended_at: null })
  const child = (more: Parameters<typeof anEvaluationCall>[0]) =>
    anEvaluationCall({ parent_id: 'row', ...more })

  it('has the output of its model while it is unfinished', () => {
    const prediction = child({ id: 'p', op_name: 'M.predict', output: 7, ended_at: at(3) })
    const { output, modelLatency, predictionId, endedAt } = rowOf({
      row,
      children: [prediction],
      feedback: [],
    })
    assert.deepEqual([output, modelLatency, predictionId, endedAt], [7, 3, 'p', null])
  })

  it('has no latency when its model ended before it started, or a negative one was reported', () => {
    const prediction = child({ id: 'p', op_name: 'M.predict', started_at: at(3), ended_at: at(2) })
    assert.equal(rowOf({ row, children: [prediction], feedback: [] }).modelLatency, null)
    const reported = { ...row, output: { output: 7, model_latency: -1 } }
    assert.equal(rowOf({ row: reported, children: [], feedback: [] }).modelLatency, null)
  })

  it('has null for a scorer that failed, and nothing for one that runs', () => {
    const failed = child({ id: 's', op_name: 'A.score', exception: 'no', output: null })
    const running = child({ id: 't', op_name: 'B.score', ended_at: null })
    const { scores, scoreIds } = rowOf({ row, children: [failed, running], feedback: [] })
    assert.deepEqual(scores, { A: null })
    assert.deepEqual(scoreIds, { A: 's', B: 't' })
  })

  it('has the last score of a scorer', () => {
    const children = [2, 1].map((n) =>
      child({ id: `s${n}`, op_name: 'A.score', output: n, started_at: at(n) }),
    )
    const { scores, scoreIds } = rowOf({ row, children, feedback: [] })
    assert.deepEqual([scores, scoreIds], [{ A: 2 }, { A: 's2' }])
  })

  it('may be a prediction that is a child of the run', () => {
    const prediction = anEvaluationCall({
      id: 'p',
      attributes: { weave: { prediction: 'true' } },
      inputs: { self: 'm', inputs: { q: 1 } },
      output: { output: 'kept' },
    })
    const { id, predictionId, example, output } = rowOf({ row: prediction, children: [], feedback: [] })
    assert.deepEqual([id, predictionId, example, output], ['p', 'p', { q: 1 }, { output: 'kept' }])
  })

  it('has the digest that its example has as the row of a table', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.integer()), (example) =>
        assert.equal(exampleDigest(sha256, example), contentDigest(sha256, example)),
      ),
    )
  })
})
