import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import { failingWith, inTurn, saying, usageOf } from '../../support/upstreams/behaviours.js'
import type { Behaviour } from '../../support/upstreams/upstream.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { callsOfTrace, finishedStatus, logRun, rescore, type Call } from './logged-run.js'

const ROWS = [
  { example: { question: 'Capital of France?', expected: 'Paris' }, output: 'Paris' },
  { example: { question: 'Capital of Japan?', expected: 'Tokyo' }, output: 'Kyoto' },
]
const PRICE = { prompt_token_cost: '0.001', completion_token_cost: '0.01' }

/** Says whether the prompt names the city twice: as the answer and as the output. */
const judging: Behaviour = (body, ...rest) => {
  const { content } = (body['messages'] as { content: string }[]).at(-1)!
  const [, expected, output] = /expected (\w+), got (\w+)/.exec(content) ?? []
  const correct = expected === output
  const verdict = JSON.stringify({ correct, reason: correct ? 'same city' : `not ${expected!}` })
  return saying([verdict], usageOf(20, 7))(body, ...rest)
}

const PROMPT = 'Question: {inputs[question]} expected {expected}, got {output}. Answer as {{"correct": …}}.'

describe('rescoring with an LLM judge', () => {
  let service: TestService
  let gateway: Gateway
  let project: string
  let source: string
  before(async () => {
    service = await sharedService()
    gateway = await startGateway(service, {
      id: 'judge-model',
      upstream: { models: [{ id: 'judge-model', upstream_id: 'chat-1', price: PRICE }] },
    })
    project = someProject()
    source = (await logRun(service, project, ROWS)).id
  })
  after(async () => {
    await gateway.upstream.close()
  })

  const modelObject = (params: JsonObject = {}, llm_model_id = 'openai/judge-model'): JsonObject => ({
    _type: 'LLMStructuredCompletionModel',
    _class_name: 'LLMStructuredCompletionModel',
    _bases: ['Model', 'Object', 'BaseModel'],
    name: 'judge-model',
    description: null,
    llm_model_id,
    default_params: {
      _type: 'LLMStructuredCompletionModelDefaultParams',
      messages_template: null,
      prompt: null,
      temperature: 0,
      top_p: null,
      max_tokens: 50,
      presence_penalty: null,
      frequency_penalty: null,
      stop: null,
      n_times: null,
      functions: null,
      response_format: 'json_object',
      ...params,
    },
  })
  /** As the Python package publishes it. */
  const judgeObject = (model: Json, scoring_prompt: Json = PROMPT): JsonObject => ({
    _type: 'LLMAsAJudgeScorer',
    _class_name: 'LLMAsAJudgeScorer',
    _bases: ['Scorer', 'Object', 'BaseModel'],
    name: null,
    description: null,
    column_map: null,
    model,
    scoring_prompt,
    media_scoring_json_paths: null,
    enable_image_input_scoring: false,
    enable_audio_input_scoring: false,
    enable_video_input_scoring: false,
  })

  const run = async (object: JsonObject, behaviour = judging, of = project, sourceRun = source) => {
    gateway.upstream.behave(behaviour)
    const from = gateway.upstream.arrivals.length
    const answer = await rescore(service, of, sourceRun, [
      await service.in(of).objects.publish('judge', object),
    ])
    assert.equal(answer.status, 200, answer.text)
    const { call_id: id } = answer.json<{ call_id: string }>()
    const status = await finishedStatus(service, of, id)
    assert.equal(status.code, 'complete', JSON.stringify(status))
    const calls = await callsOfTrace(service, of, id)
    const scorers = calls.filter(({ op_name }) => op_name.includes('judge.score'))
    return {
      id,
      calls,
      scorers,
      arrivals: gateway.upstream.arrivals.slice(from),
      completions: calls.filter(({ parent_id }) => scorers.some((scorer) => scorer.id === parent_id)),
      summary: (status['output'] as JsonObject)['judge'],
      warnings: status['warnings'],
    }
  }

  it('records the verdicts with their reasons, and the completions below them', async () => {
    const model = await service.in(project).objects.publish('judge-model', modelObject())
    const { calls, scorers, completions, arrivals, summary, warnings } = await run(judgeObject(model))
    assert.deepEqual(scoresIn(calls), [
      { correct: true, reason: 'same city' },
      { correct: false, reason: 'not Tokyo' },
    ])
    assert.deepEqual(warnings, [])
    const { correct } = summary as JsonObject
    assert.deepEqual(correct, { count: 2, true_count: 1, true_fraction: 0.5, row_count: 2 })
    assert.equal(completions.length, 2)
    assert.deepEqual(
      completions.map(({ parent_id }) => parent_id).toSorted(),
      scorers.map(({ id }) => id).toSorted(),
    )
    const bodies = arrivals.map(({ body }) => body)
    assert.deepEqual(
      bodies.map(({ messages }) => (messages as { content: string }[])[0]!.content).toSorted(),
      [
        'Question: Capital of France? expected Paris, got Paris. Answer as {"correct": …}.',
        'Question: Capital of Japan? expected Tokyo, got Kyoto. Answer as {"correct": …}.',
      ],
    )
    for (const { model: asked, temperature, max_tokens, response_format } of bodies)
      assert.deepEqual(
        [asked, temperature, max_tokens, response_format],
        ['chat-1', 0, 50, { type: 'json_object' }],
      )
  })

  it('attributes the usage of the judge to the run', async () => {
    const { id } = await run(judgeObject(modelObject()))
    const answer = await service.in(project).usage.ofTraces({ filter: { call_ids: [id] } })
    const { call_usage } = answer.json<{ call_usage: Record<string, Record<string, JsonObject>> }>()
    const { 'judge-model': used, ...others } = call_usage[id]!
    assert.deepEqual(others, {})
    assert.deepEqual([used!['requests'], used!['prompt_tokens'], used!['completion_tokens']], [2, 40, 14])
  })

  it('takes a MessagesPrompt, the messages of the model and answers as text', async () => {
    const prompt = await service.in(project).objects.publish('prompt', {
      _type: 'MessagesPrompt',
      _class_name: 'MessagesPrompt',
      _bases: ['Prompt', 'Object', 'BaseModel'],
      messages: [
        { role: 'system', content: 'Judge {question}' },
        { role: 'user', content: [{ type: 'text', text: 'got {output}' }] },
      ],
    })
    const params = {
      response_format: 'text',
      messages_template: [{ role: 'system', content: 'Be {strict}.' }],
    }
    const { calls, arrivals, summary } = await run(judgeObject(modelObject(params), prompt), saying(['good']))
    assert.deepEqual(scoresIn(calls), ['good', 'good'])
    assert.equal((summary as JsonObject)['count'], 2)
    const { body } = arrivals.find(({ text }) => text.includes('Japan'))!
    assert.deepEqual(body['messages'], [
      { role: 'system', content: 'Be {strict}.' },
      { role: 'system', content: 'Judge Capital of Japan?' },
      { role: 'user', content: [{ type: 'text', text: 'got Kyoto' }] },
    ])
    assert.deepEqual(body['response_format'], { type: 'text' })
  })

  const failsWith = async (reason: RegExp, ...of: Parameters<typeof run>) => {
    const result = await run(...of)
    const [warning] = result.warnings as string[]
    assert.match(warning!, /^scorer judge gave no score for 2 of 2 rows: /)
    assert.match(warning!, reason)
    for (const { output, exception } of result.scorers) {
      assert.equal(output, null)
      assert.match(exception!, reason)
    }
    assert.deepEqual(scoresIn(result.calls), [null, null])
    return result
  }

  it('gives null and a warning that names a model that the gateway does not have', async () => {
    const { arrivals } = await failsWith(
      /model openai\/gpt-unknown: The model does not exist/,
      judgeObject(modelObject({}, 'openai/gpt-unknown')),
    )
    assert.equal(arrivals.length, 0)
  })

  it('gives null and a warning where the prompt needs what the row does not have', async () => {
    await failsWith(/no value for \{answer\} of the prompt/, judgeObject(modelObject(), '{answer} {output}'))
  })

  it('gives null and a warning where the judge does not answer JSON', async () => {
    await failsWith(
      /answered with text that is not JSON/,
      judgeObject(modelObject()),
      saying(['It is fine.']),
    )
  })

  it('gives null and a warning where the upstream refuses the request', async () => {
    const { arrivals } = await failsWith(
      /no such key/,
      judgeObject(modelObject()),
      failingWith(400, 'no such key'),
    )
    assert.equal(arrivals.length, 2)
  })

  it('asks again while the upstream is overloaded', async () => {
    const behaviour = inTurn(failingWith(503, 'busy'), failingWith(503, 'busy'), judging)
    const { calls, warnings, arrivals } = await run(judgeObject(modelObject()), behaviour)
    assert.deepEqual(warnings, [])
    assert.equal(scoresIn(calls).filter((score) => score !== null).length, 2)
    assert.ok(arrivals.length >= 4)
  })

  it('is refused where an object that it refers to does not exist, with its name', async () => {
    const missing = `weave:///${project}/object/none:1`
    const scorer = await service.in(project).objects.publish('judge', judgeObject(missing))
    const { status, text } = await rescore(service, project, source, [scorer])
    assert.equal(status, 422)
    assert.ok(text.includes(`${missing}, which ${scorer} refers to, does not exist`), text)
  })

  it('spends no more than the budget of the team', async () => {
    const other = someProject()
    const logged = await logRun(service, other, ROWS)
    const limit = { scope: { type: 'team' }, budget: { amount: 0.01, period: 'month' } }
    const path = `/api/teams/${other.split('/')[0]!}/limits`
    assert.equal((await service.send('PUT', path, limit)).status, 200)
    const { arrivals, completions } = await failsWith(
      /of 0\.01, 0 is spent/,
      judgeObject(modelObject()),
      judging,
      other,
      logged.id,
    )
    assert.deepEqual([arrivals.length, completions.length], [0, 0])
  })

  it('waits for the rate limit of the team', async () => {
    const other = someProject()
    const logged = await logRun(service, other, ROWS)
    const path = `/api/teams/${other.split('/')[0]!}/limits`
    await service.send('PUT', path, { scope: { type: 'team' }, concurrency: 1 })
    const { calls, warnings } = await run(judgeObject(modelObject()), judging, other, logged.id)
    assert.deepEqual(warnings, [])
    assert.ok(scoresIn(calls).every((score) => score !== null))
  })
})

const scoresIn = (calls: readonly Call[]): readonly Json[] =>
  calls
    .filter(({ op_name }) => op_name.includes('predict_and_score'))
    .map(({ output }) => (output as { scores: JsonObject }).scores['judge'] ?? null)
