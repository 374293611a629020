import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { RunFailed, type AskModel } from '../../../../src/application/evaluations/services.js'
import { judgeScorer } from '../../../../src/dispatch/evaluations/judge-scorer.js'
import { decodeScorer, type JudgeScorer } from '../../../../src/domain/evaluations/scorers/scorer.js'
import type { ScoreContext } from '../../../../src/domain/evaluations/scoring.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'

const contextOf = (signal = new AbortController().signal): ScoreContext => ({
  projectId: 'team/project',
  runId: 'run',
  rowId: 'row',
  scoreId: 'score',
  traceId: 'run',
  mayBeRepeat: false,
  userId: 'ada',
  keyId: 'key',
  signal,
})
const ROW = { example: { expected: 'Paris' }, output: 'Paris' }
const COMPLETION = { completion: { choices: [{ message: { role: 'assistant', content: 'good' } }] } }
const RATE_LIMITED = {
  failed: 'Too many requests.',
  isRetryable: true,
  isUnknownModel: false,
  retryAfterMs: 1,
}
const UNKNOWN = { failed: 'No such model.', isRetryable: false, isUnknownModel: true, retryAfterMs: null }

const judge = (fields: JsonObject = {}): JudgeScorer => {
  const scorer = decodeScorer('weave:///team/project/object/judge:1', {
    _class_name: 'LLMAsAJudgeScorer',
    scoring_prompt: 'Is {output} right?',
    model: { llm_model_id: 'openai/gpt' },
    ...fields,
  })
  assert.ok(E.isRight(scorer) && scorer.right.kind === 'llm-judge', JSON.stringify(scorer))
  return scorer.right
}

const nothing = async () => undefined

describe('the LLM judge', () => {
  it('asks for the model under its own name where the gateway does not know it with its provider', async () => {
    const models: Json[] = []
    const ask: AskModel = async ({ model }) => {
      models.push(model!)
      return model === 'gpt' ? COMPLETION : UNKNOWN
    }
    const score = await judgeScorer(ask)(judge(), nothing)
    assert.deepEqual(await score(ROW, contextOf()), { value: 'good' })
    assert.deepEqual(models, ['openai/gpt', 'gpt'])
    const other = await judgeScorer(ask)(judge({ model: { llm_model_id: 'openai/other' } }), nothing)
    assert.deepEqual(await other(ROW, contextOf()), { failed: 'model openai/other: No such model.' })
  })

  it('waits for a rate limit as often as it takes', async () => {
    let asked = 0
    const score = await judgeScorer(async () => ((asked += 1) <= 20 ? RATE_LIMITED : COMPLETION))(
      judge(),
      nothing,
    )
    assert.deepEqual(await score(ROW, contextOf()), { value: 'good' })
  })

  it('stops waiting when the row is aborted', async () => {
    const abort = new AbortController()
    const score = await judgeScorer(async () => {
      setImmediate(() => abort.abort())
      return { ...RATE_LIMITED, retryAfterMs: 3_600_000 }
    })(judge(), nothing)
    assert.deepEqual(await score(ROW, contextOf(abort.signal)), {
      failed: 'Too many requests.',
      isUnavailable: true,
    })
  })

  it('does not ask without a value for the prompt', async () => {
    const score = await judgeScorer(() => assert.fail('asked'))(
      judge({ column_map: { output: 'missing' } }),
      nothing,
    )
    assert.deepEqual(await score(ROW, contextOf()), {
      failed: 'the row has no value for {output} of the prompt',
    })
  })

  it('names the object that it refers to where it does not exist or is of another kind', async () => {
    const ref = 'weave:///team/project/object/other:1'
    const prepare = (fields: JsonObject, value: Json | undefined) =>
      judgeScorer(() => assert.fail('asked'))(judge(fields), async () => value)
    for (const fields of [
      { model: ref },
      { scoring_prompt: ref },
      { model: { llm_model_id: 'gpt', default_params: { prompt: ref } } },
    ]) {
      await assert.rejects(prepare(fields, undefined), (error: Error) => {
        assert.ok(error instanceof RunFailed)
        return error.message.startsWith(`${ref}, which weave:///team/project/object/judge:1 refers to`)
      })
      for (const value of [{}, 'text', 1, [], { messages: [{ content: 'no role' }], llm_model_id: 7 }])
        await assert.rejects(prepare(fields, value), (error: Error) => {
          assert.ok(error instanceof RunFailed)
          return error.message.startsWith(`${ref}: `)
        })
    }
  })
})
