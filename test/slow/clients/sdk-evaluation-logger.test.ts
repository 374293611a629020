import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import {
  assertNoneRefused,
  opOf,
  startSdkService,
  type Call,
  type SdkService,
} from '../../e2e/sdk-service.js'

const PROJECT = 'team/logging'

interface Feedback extends JsonObject {
  readonly weave_ref: string
  readonly feedback_type: string
}

describe('an evaluation logged with the SDK of npm', () => {
  let sdk: SdkService
  let calls: readonly Call[]
  before(async () => {
    sdk = await startSdkService()
    assert.deepEqual(await sdk.told('loggingAnEvaluation', PROJECT), { calls: 14 })
    calls = await sdk.callsOf(PROJECT)
  })
  after(() => sdk.stop())

  const named = (op: string) => calls.filter((call) => opOf(call) === op)
  const root = () => named('Evaluation.evaluate')[0]!
  const refOf = ({ id }: Call) => `weave:///${PROJECT}/call/${id}`
  const feedbackOn = async (weave_ref: string) =>
    (
      await sdk.answered<{ result: readonly Feedback[] }>('/feedback/query', {
        project_id: PROJECT,
        query: { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: weave_ref }] } },
        sort_by: [{ field: 'feedback_type', direction: 'asc' }],
      })
    ).result

  it('is one trace of predictions, each with its prediction and scores below it', () => {
    assert.equal(calls.length, 14)
    assert.equal(new Set(calls.map(({ trace_id }) => trace_id)).size, 1)
    const predictions = named('Evaluation.predict_and_score')
    assert.equal(predictions.length, 3)
    for (const { id, parent_id } of predictions) {
      assert.equal(parent_id, root().id)
      assert.deepEqual(
        calls
          .filter((call) => call.parent_id === id)
          .map(opOf)
          .sort(),
        ['Model.predict', 'correct.score', 'error.score'],
      )
    }
    assert.equal(named('Evaluation.summarize')[0]!.parent_id, root().id)
  })

  it('is read with predictions, scores and the summary', () => {
    assert.deepEqual(
      named('Evaluation.predict_and_score').map(({ inputs, output }) => [inputs['example'], output]),
      [
        [
          { a: 1, b: 2 },
          { output: 3, scores: { correct: true, error: 0 } },
        ],
        [
          { a: 2, b: 2 },
          { output: 5, scores: { correct: false, error: 1 } },
        ],
        [
          { a: 3, b: 4 },
          { output: 7, scores: { correct: true, error: 0 } },
        ],
      ],
    )
    const summary = { correct: { true_count: 2, true_fraction: 2 / 3 }, error: { mean: 1 / 3 } }
    assert.deepEqual(root().output, summary)
    assert.deepEqual(named('Evaluation.summarize')[0]!.output, summary)
    const { branch, _weave_eval_meta } = root().attributes
    assert.deepEqual([branch, _weave_eval_meta], ['main', { imperative: true }])
  })

  it('has each score as feedback on the prediction, naming the scorer and its call', async () => {
    for (const predict of named('Model.predict')) {
      const beside = (op: string) => named(op).find(({ parent_id }) => parent_id === predict.parent_id)!
      const given = await feedbackOn(refOf(predict))
      assert.deepEqual(
        given.map(({ feedback_type, payload, call_ref }) => [feedback_type, payload, call_ref]),
        ['correct', 'error'].map((scorer) => {
          const score = beside(`${scorer}.score`)
          return [`wandb.runnable.${scorer}`, { output: score.output }, refOf(score)]
        }),
      )
      for (const { runnable_ref, wb_user_id } of given) {
        assert.match(runnable_ref as string, /^weave:\/\/\/team\/logging\/object\/(correct|error):\w{43}$/)
        assert.equal(wb_user_id, 'admin')
      }
    }
    const { result } = await sdk.answered<{ result: readonly Feedback[] }>('/feedback/query', {
      project_id: PROJECT,
    })
    assert.equal(result.length, 6)
  })

  it('has one version of each scorer, however often it was published', async () => {
    const { objs } = await sdk.answered<{ objs: readonly JsonObject[] }>('/objs/query', {
      project_id: PROJECT,
      filter: null,
      sort_by: [{ field: 'object_id', direction: 'asc' }],
    })
    assert.deepEqual(
      objs.map(({ object_id, version_index, kind }) => [object_id, version_index, kind]),
      [
        ['Evaluation.evaluate', 0, 'op'],
        ['Evaluation.predict_and_score', 0, 'op'],
        ['Evaluation.summarize', 0, 'op'],
        ['Model.predict', 0, 'op'],
        ['adder', 0, 'object'],
        ['correct', 0, 'object'],
        ['correct.score', 0, 'op'],
        ['error', 0, 'object'],
        ['error.score', 0, 'op'],
        ['logged', 0, 'object'],
      ],
    )
  })

  it('had no request refused for good', () => assertNoneRefused(sdk.proxy))
})
