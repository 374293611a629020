import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { usageOf, wholeOf } from '../../support/upstreams/behaviours.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { sharedService, someProject } from '../shared-service.js'
import { callsOfTrace, finishedStatus, scorerObject } from './logged-run.js'

const ROWS = [
  { user_input: 'France', expected: 'Paris' },
  { user_input: 'Japan', expected: 'Tokyo' },
  { user_input: 'Atlantis', expected: '?' },
  { user_input: 'Peru', expected: 'Lima' },
]

const CAPITALS: Readonly<Record<string, string>> = { France: 'Paris', Japan: 'Kyoto', Peru: 'Lima' }

describe('evaluating a model', () => {
  let gateway: Gateway
  let project: string
  let model: string
  let exact: string
  let dataset: string

  before(async () => {
    gateway = await startGateway(await sharedService())
    gateway.upstream.behave((body, response) => {
      const messages = body['messages'] as { content: string }[]
      const last = messages.at(-1)!.content
      const isJudge = last.startsWith('Judge')
      const answer = isJudge ? JSON.stringify({ good: last.includes('Paris') }) : CAPITALS[last]
      response.writeHead(answer === undefined ? 400 : 200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(
          answer === undefined
            ? { error: { message: 'no such country', type: 'invalid_request_error' } }
            : wholeOf('chat-1', answer, usageOf(10, 5)),
        ),
      )
    })
    project = someProject()
    const { service } = gateway
    const table = await service.in(project).tables.create(ROWS)
    const { digest } = table.json<{ digest: string }>()
    const { objects } = service.in(project)
    dataset = await objects.publish('rows', {
      _type: 'Dataset',
      _class_name: 'Dataset',
      _bases: ['Object', 'BaseModel'],
      rows: `weave:///${project}/table/${digest}`,
    })
    model = await objects.publish('asked', {
      _type: 'LLMStructuredCompletionModel',
      _class_name: 'LLMStructuredCompletionModel',
      llm_model_id: gateway.model,
      default_params: { messages_template: [{ role: 'system', content: 'Name the capital.' }] },
    })
    exact = await objects.publish('exact', scorerObject('ExactMatchScorer'))
  })
  after(() => gateway.upstream.close())

  const evaluation = (fields: JsonObject) =>
    gateway.service.in(project).objects.publish('capitals', { _type: 'Evaluation', dataset, ...fields })

  const request = (body: JsonObject, headers: Record<string, string> = {}) =>
    gateway.service
      .in(project)
      .with({ headers })
      .evaluations.evaluateModel({ model_ref: model, ...body })

  const evaluated = async (fields: JsonObject): Promise<string> => {
    const answer = await request({ evaluation_ref: await evaluation(fields) })
    assert.equal(answer.status, 200, answer.text)
    const { call_id, evaluation_run_id } = answer.json<{ call_id: string; evaluation_run_id: string }>()
    assert.equal(call_id, evaluation_run_id)
    return call_id
  }

  it('asks the model about each row and scores the answers', async () => {
    const judge = await gateway.service
      .in(project)
      .objects.publish(
        'judge',
        scorerObject('LLMAsAJudgeScorer', {
          model: { llm_model_id: gateway.model, default_params: { response_format: 'json_object' } },
          scoring_prompt: 'Judge {output}',
        }),
      )
    const id = await evaluated({ scorers: [exact, judge] })
    const status = await finishedStatus(gateway.service, project, id)
    assert.equal(status.code, 'complete', JSON.stringify(status))
    const output = status['output'] as Record<string, Record<string, JsonObject>>
    assert.deepEqual(Object.keys(output), ['exact', 'judge', 'model_latency'])
    assert.equal(output['exact']!['exact_match']!['true_count'], 2)
    assert.equal(output['judge']!['good']!['true_count'], 1)
    const [warning, ...others] = status['warnings'] as string[]
    assert.deepEqual(others, [])
    assert.match(warning!, /^1 of 4 predictions were not scored: the prediction failed: /)

    const calls = await callsOfTrace(gateway.service, project, id)
    assert.ok(calls.every(({ ended_at }) => ended_at !== null))
    const rows = calls.filter(({ op_name }) => op_name.includes('predict_and_score'))
    assert.deepEqual(
      rows.map(({ output: made }) => (made as JsonObject)['output']),
      ['Paris', 'Kyoto', null, 'Lima'],
    )
    const examples = await gateway.service.post('/refs/read_batch', {
      refs: rows.map(({ inputs }) => inputs['example']),
    })
    assert.deepEqual(examples.json<{ vals: JsonObject[] }>().vals, ROWS)
    for (const [index, row] of rows.entries()) {
      const below = calls.filter(({ parent_id }) => parent_id === row.id)
      const prediction = below.find(({ op_name }) => op_name.includes('predict'))!
      assert.equal(prediction.exception !== null, index === 2)
      assert.deepEqual(
        below.map(({ op_name }) => op_name.replace(/^.*\/op\//, '').replace(/:.*/, '')).toSorted(),
        index === 2
          ? ['LLMStructuredCompletionModel.predict']
          : ['LLMStructuredCompletionModel.predict', 'exact.score', 'judge.score'],
      )
      assert.ok(
        calls.some(({ parent_id, inputs }) => parent_id === prediction.id && 'messages' in inputs),
        'the completion is a child of the prediction',
      )
    }
  })

  it('attributes the usage of the completions to the run', async () => {
    const id = await evaluated({ scorers: [exact] })
    await finishedStatus(gateway.service, project, id)
    const answer = await gateway.service.in(project).calls.usage({ call_ids: [id] })
    assert.equal(answer.status, 200, answer.text)
    const usage = answer.json<{ call_usage: Record<string, Record<string, JsonObject>> }>().call_usage[id]!
    const totals = Object.values(usage).map(({ prompt_tokens, completion_tokens }) => [
      Number(prompt_tokens),
      Number(completion_tokens),
    ])
    const sum = totals.reduce(([a, b], [c, d]) => [a! + c!, b! + d!], [0, 0])
    assert.deepEqual(sum, [30, 15])
  })

  it('asks about each example once for each trial', async () => {
    const id = await evaluated({ scorers: [exact], trials: 3 })
    const status = await finishedStatus(gateway.service, project, id)
    assert.match(JSON.stringify(status), /3 of 12 predictions were not scored/)
    const rows = (await callsOfTrace(gateway.service, project, id)).filter(({ op_name }) =>
      op_name.includes('predict_and_score'),
    )
    const outputs = ['Paris', 'Kyoto', null, 'Lima']
    assert.deepEqual(
      rows.map(({ output }) => (output as JsonObject)['output']),
      [...outputs, ...outputs, ...outputs],
    )
  })

  it('completes without scores when the evaluation has no scorers', async () => {
    const status = await finishedStatus(gateway.service, project, await evaluated({ scorers: null }))
    assert.equal(status.code, 'complete')
    assert.deepEqual(Object.keys(status['output'] as JsonObject), ['model_latency'])
  })

  it('runs once when the request is repeated with its Idempotency-Key', async () => {
    const evaluation_ref = await evaluation({ scorers: [exact] })
    const headers = { 'idempotency-key': randomUUID() }
    const first = await request({ evaluation_ref }, headers)
    const repeat = await request({ evaluation_ref }, headers)
    assert.deepEqual([repeat.status, repeat.text], [200, first.text])
    const other = await request({ evaluation_ref: await evaluation({ scorers: [] }) }, headers)
    assert.equal(other.status, 409)
    const { call_id } = first.json<{ call_id: string }>()
    assert.equal((await finishedStatus(gateway.service, project, call_id)).code, 'complete')
  })

  describe('a request that is not valid', () => {
    const problem = async (body: JsonObject) => {
      const answer = await request(body)
      const { detail } = answer.json<{ detail?: { loc: unknown[] }[] }>()
      return [answer.status, Array.isArray(detail) ? detail[0]!.loc.join('.') : undefined]
    }

    it('names the field', async () => {
      const evaluation_ref = await evaluation({ scorers: [exact] })
      const asOp = (ref: string) => ref.replace('/object/', '/op/')
      const refused = [
        [{ evaluation_ref: 7 }, 'evaluation_ref'],
        [{ evaluation_ref: 'no ref' }, 'evaluation_ref'],
        [{ evaluation_ref: model }, 'evaluation_ref'],
        [{ evaluation_ref: `${evaluation_ref}/attr/dataset` }, 'evaluation_ref'],
        [{ evaluation_ref: await evaluation({ scorers: 'exact' }) }, 'evaluation_ref'],
        [{ evaluation_ref: await evaluation({ trials: 0 }) }, 'evaluation_ref'],
        [{ evaluation_ref: await evaluation({ trials: 1e9 }) }, 'evaluation_ref'],
        [{ evaluation_ref: await evaluation({ preprocess_model_input: exact }) }, 'evaluation_ref'],
        [{ evaluation_ref: await evaluation({ dataset: 'rows' }) }, 'evaluation_ref'],
        [{ evaluation_ref: asOp(evaluation_ref) }, 'evaluation_ref'],
        [{ evaluation_ref, model_ref: asOp(model) }, 'model_ref'],
        [{ evaluation_ref: await evaluation({ scorers: [asOp(exact)] }) }, 'evaluation_ref.scorers.0'],
        [{ evaluation_ref: await evaluation({ dataset: asOp(model) }) }, 'evaluation_ref.dataset'],
        [{ evaluation_ref: await evaluation({ dataset: model }) }, 'evaluation_ref.dataset'],
        [{ evaluation_ref: await evaluation({ scorers: [exact, exact] }) }, 'evaluation_ref.scorers.1'],
        [{ evaluation_ref: await evaluation({ scorers: [model] }) }, 'evaluation_ref.scorers.0'],
        [{ evaluation_ref, model_ref: exact }, 'model_ref'],
        [{ evaluation_ref, model_ref: '' }, 'model_ref'],
        [{ evaluation_ref, wb_user_id: 'me' }, 'wb_user_id'],
      ] as const
      for (const [body, field] of refused)
        assert.deepEqual(await problem(body), [422, `body.${field}`], JSON.stringify(body))
    })

    it('is not found when an object does not exist or is of a team without access', async () => {
      const evaluation_ref = await evaluation({ scorers: [exact] })
      const missing = `weave:///${project}/object/none:1`
      assert.deepEqual(await problem({ evaluation_ref: missing }), [404, undefined])
      assert.deepEqual(await problem({ evaluation_ref, model_ref: missing }), [404, undefined])
      for (const fields of [{ dataset: missing }, { scorers: [missing] }])
        assert.deepEqual(await problem({ evaluation_ref: await evaluation(fields) }), [404, undefined])
    })

    it('names the dataset when its table is in another project', async () => {
      const { service } = gateway
      const other = someProject()
      const table = await service.in(other).tables.create(ROWS)
      const { digest } = table.json<{ digest: string }>()
      const foreign = await service
        .in(project)
        .objects.publish('foreign', { _type: 'Dataset', rows: `weave:///${other}/table/${digest}` })
      assert.deepEqual(await problem({ evaluation_ref: await evaluation({ dataset: foreign }) }), [
        422,
        'body.evaluation_ref.dataset',
      ])
    })
  })
})
