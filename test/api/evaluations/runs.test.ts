import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { reasonOf, told, writesNothing } from '../calls/given.js'
import { EVALUATION, evaluationsOf, MODEL, scorerRef } from './requests.js'

const OP = 'weave:///team/p/op/guess:v0'

describe('evaluation runs', () => {
  let service: TestService
  let project: string
  let evaluations: ReturnType<typeof evaluationsOf>
  before(async () => {
    service = await sharedService()
  })
  beforeEach(() => {
    project = someProject()
    evaluations = evaluationsOf(service, project)
  })

  it('are calls with the ops and attributes of an SDK', async () => {
    const run = await evaluations.startRun()
    const prediction = await evaluations.predict(run, { q: 1 }, 'a')
    const score = await evaluations.score(prediction, 'exact', true)
    const calls = [run, prediction, score].map((id) => service.in(project).calls.read(id))
    const [root, predicted, scored] = await Promise.all(calls)
    assert.deepEqual(root.inputs, { self: EVALUATION, model: MODEL })
    assert.deepEqual(root.attributes, {
      weave: { evaluation_run: 'true', evaluation: EVALUATION, model: MODEL },
    })
    assert.deepEqual([root.trace_id, root.ended_at], [run, null])
    assert.deepEqual([predicted.output, predicted.inputs], ['a', { self: MODEL, inputs: { q: 1 } }])
    assert.deepEqual([scored.output, scored.parent_id], [true, predicted.parent_id])
    assert.deepEqual(scored.attributes.weave, {
      score: 'true',
      prediction_id: prediction,
      scorer: scorerRef('exact'),
      evaluation_run_id: run,
    })
    const row = await service.in(project).calls.read(predicted.parent_id)
    assert.deepEqual([row.parent_id, row.trace_id, row.inputs.example], [run, run, { q: 1 }])
    for (const { op_name } of [root, predicted, scored, row]) {
      const { vals } = (await service.post('/refs/read_batch', { refs: [op_name] })).json<{
        vals: object[]
      }>()
      assert.deepEqual((vals[0] as { weave_type: object }).weave_type, { type: 'Op' })
    }
  })

  it('may have marks that are booleans, and no inputs', async () => {
    const at = { started_at: '2026-01-01T00:00:00Z', ended_at: '2026-01-01T00:00:01Z', trace_id: 'p' }
    const weave = { prediction: true, model: MODEL }
    const call = {
      id: 'p',
      op_name: 'any',
      ...at,
      inputs: { self: MODEL, inputs: null },
      attributes: { weave },
    }
    await service.in(project).calls.complete([call])
    const read = await evaluations.get('predictions/p')
    assert.deepEqual([read['prediction_id'], read['model'], read['inputs']], ['p', MODEL, {}])
  })

  it('are read with their predictions and scores', async () => {
    const run = await evaluations.startRun({ source_evaluation_run_id: 'source' })
    const predictions = [
      await evaluations.predict(run, { q: 1 }, 'a'),
      await evaluations.predict(run, { q: 2 }, 'b'),
    ]
    const scores = [await evaluations.score(predictions[0]!, 'exact', true)]
    scores.push(await evaluations.score(predictions[1]!, 'exact', false))

    const { started_at, ...shown } = await evaluations.get(`evaluation_runs/${run}`)
    assert.equal(typeof started_at, 'string')
    assert.deepEqual(shown, {
      evaluation_run_id: run,
      evaluation: EVALUATION,
      model: MODEL,
      status: 'running',
      finished_at: null,
      summary: null,
      source_evaluation_run_id: 'source',
    })
    const prediction = {
      prediction_id: predictions[0]!,
      model: MODEL,
      inputs: { q: 1 },
      output: 'a',
      evaluation_run_id: run,
      wb_user_id: 'admin',
    }
    assert.deepEqual(await evaluations.get(`predictions/${predictions[0]}`), prediction)
    assert.deepEqual(await evaluations.lines(`predictions?evaluation_run_id=${run}&limit=1`), [prediction])
    assert.deepEqual(await evaluations.lines('predictions?limit=1'), [prediction])
    const second = { ...prediction, prediction_id: predictions[1], inputs: { q: 2 }, output: 'b' }
    assert.deepEqual(await evaluations.lines(`predictions?evaluation_run_id=${run}&offset=1`), [second])
    const score = {
      score_id: scores[0]!,
      scorer: scorerRef('exact'),
      value: true,
      evaluation_run_id: run,
      wb_user_id: 'admin',
    }
    assert.deepEqual(await evaluations.get(`scores/${scores[0]}`), score)
    for (const query of [`?evaluation_run_id=${run}`, ''])
      assert.deepEqual(await evaluations.lines(`scores${query}`), [
        score,
        { ...score, score_id: scores[1], value: false },
      ])
  })

  it('are listed by evaluation, model and id', async () => {
    const first = await evaluations.startRun()
    const second = await evaluations.startRun({ model: scorerRef('other') })
    const listed = async (query: string) =>
      (await evaluations.lines(`evaluation_runs${query}`)).map(({ evaluation_run_id }) => evaluation_run_id)
    assert.deepEqual(await listed(''), [first, second])
    assert.deepEqual(await listed('?limit=1&offset=1'), [second])
    assert.deepEqual(await listed(`?models=${scorerRef('other')}`), [second])
    assert.deepEqual(await listed(`?models=${scorerRef('other')}&models=${MODEL}`), [first, second])
    assert.deepEqual(await listed(`?evaluations=${EVALUATION}&evaluation_run_ids=${first}`), [first])
    assert.deepEqual(await listed(`?evaluations=${scorerRef('none')}`), [])
  })

  it('are finished with the summary of the client', async () => {
    const run = await evaluations.startRun()
    const summary = { accuracy: 0.5 }
    assert.deepEqual(await evaluations.post(`evaluation_runs/${run}/finish`, { summary }), { success: true })
    const { status, summary: shown } = await evaluations.get(`evaluation_runs/${run}`)
    assert.deepEqual([status, shown], ['completed', summary])
    await writesNothing(service, async () =>
      assert.deepEqual(await evaluations.post(`evaluation_runs/${run}/finish`, { summary: {} }), {
        success: true,
      }),
    )
  })

  it('refuse predictions and scores once they are finished', async () => {
    const run = await evaluations.startRun()
    const prediction = await evaluations.predict(run, { q: 1 }, 'a')
    const alone = await evaluations.predict(null, { q: 1 }, 'a')
    await evaluations.score(prediction, 'exact', true)
    await evaluations.post(`evaluation_runs/${run}/finish`, {})
    const score = { scorer: scorerRef('exact'), value: false }
    await writesNothing(service, async () => {
      for (const [path, body] of [
        ['predictions', { model: MODEL, inputs: {}, output: 1, evaluation_run_id: run }],
        ['scores', { ...score, prediction_id: prediction }],
        ['scores', { ...score, prediction_id: prediction, evaluation_run_id: run }],
        ['scores', { ...score, prediction_id: alone, evaluation_run_id: run }],
      ] as const)
        assert.match(reasonOf(await service.post(evaluations.at(path), body), 409), /has ended/)
    })
    // Finishing a row adds no scores, so a client may do it late.
    await evaluations.post(`predictions/${prediction}/finish`, {})
    const { summary } = (await evaluations.get(`evaluation_runs/${run}`)) as {
      summary: { exact: { true_count: number } }
    }
    assert.equal(summary.exact.true_count, 1)
  })

  it('answer a repeated request for a prediction or a score also once they are finished', async () => {
    const run = await evaluations.startRun()
    const withKey = (path: string, body: object) =>
      evaluations.post(path, body, { headers: { 'idempotency-key': `${path}-${project}` } })
    const predict = () =>
      withKey('predictions', { model: MODEL, inputs: { q: 1 }, output: 'a', evaluation_run_id: run })
    const made = await predict()
    const { prediction_id } = made
    const score = () => withKey('scores', { prediction_id, scorer: scorerRef('exact'), value: true })
    const scored = await score()
    await evaluations.post(`evaluation_runs/${run}/finish`, {})
    await writesNothing(service, async () => {
      assert.deepEqual(await predict(), made)
      assert.deepEqual(await score(), scored)
    })
  })

  it('are finished with a summary of their scores without one of the client', async () => {
    const run = await evaluations.startRun()
    for (const [q, correct] of [true, false, true, true].entries()) {
      const prediction = await evaluations.predict(run, { q }, 'a')
      await evaluations.score(prediction, 'exact', correct)
      await evaluations.score(prediction, 'distance', { value: q })
      await evaluations.post(`predictions/${prediction}/finish`, {})
    }
    await evaluations.post(`evaluation_runs/${run}/finish`, {})
    const { summary } = (await evaluations.get(`evaluation_runs/${run}`)) as {
      summary: { exact: { true_count: number; true_fraction: number }; distance: { value: { mean: number } } }
    }
    assert.deepEqual([summary.exact.true_count, summary.exact.true_fraction], [3, 0.75])
    assert.equal(summary.distance.value.mean, 1.5)
  })

  it('have rows that hold their scores once the prediction is finished', async () => {
    const run = await evaluations.startRun()
    const prediction = await evaluations.predict(run, { q: 1 }, 'a')
    await evaluations.score(prediction, 'exact', true)
    const finish = () => evaluations.post(`predictions/${prediction}/finish`, {})
    assert.deepEqual(await finish(), { success: true })
    const { calls } = service.in(project)
    const { parent_id } = await calls.read(prediction)
    const row = await calls.read(parent_id)
    assert.deepEqual(row.output, { output: 'a', scores: { exact: true }, model_latency: { mean: 0 } })
    await writesNothing(service, async () => assert.deepEqual(await finish(), { success: true }))
  })

  it('have rows with the seconds of their prediction once it is finished', async () => {
    const run = await evaluations.startRun()
    const { calls } = service.in(project)
    const of = { project_id: project, trace_id: run, attributes: {} }
    const row = `row-of-${run}`
    const id = `prediction-of-${run}`
    await calls
      .start({
        ...of,
        id: row,
        parent_id: run,
        op_name: 'Evaluation.predict_and_score',
        started_at: '2026-01-01T00:00:00Z',
        inputs: { example: { q: 1 }, model: MODEL },
      })
      .json()
    await calls
      .start({
        ...of,
        id,
        parent_id: row,
        op_name: 'Model.predict',
        started_at: '2026-01-01T00:00:01Z',
        inputs: { self: MODEL },
      })
      .json()
    await calls.end(id, { ended_at: '2026-01-01T00:00:03.5Z', output: 'a' }).json()
    await evaluations.post(`predictions/${id}/finish`, {})
    assert.deepEqual((await calls.read(row)).output, {
      output: 'a',
      scores: {},
      model_latency: { mean: 2.5 },
    })
    const { rows } = (await evaluations.post('eval_results/query', {
      evaluation_run_ids: [run],
    })) as unknown as {
      rows: readonly { evaluations: readonly { trials: readonly { model_latency_seconds: number }[] }[] }[]
    }
    assert.equal(rows[0]?.evaluations[0]?.trials[0]?.model_latency_seconds, 2.5)
    await evaluations.post(`evaluation_runs/${run}/finish`, {})
    const { summary } = await evaluations.get(`evaluation_runs/${run}`)
    assert.deepEqual(summary, { model_latency: { mean: 2.5, count: 1, row_count: 1 } })
  })

  for (const [evaluation, model] of [
    ['eval://a', 'model://a'],
    ['capitals', 'gpt-4o'],
    ['', 'weave:///not a reference'],
    [OP, 'größe 1'],
  ] as const)
    it(`take '${evaluation}' as evaluation and '${model}' as model`, async () => {
      const run = await evaluations.startRun({ evaluation, model })
      const body = { model, inputs: { q: 1 }, output: 'a', evaluation_run_id: run }
      const { prediction_id } = await evaluations.post('predictions', body)
      await evaluations.score(prediction_id as string, 'exact', true)
      await evaluations.post(`predictions/${prediction_id as string}/finish`, {})
      await evaluations.post(`evaluation_runs/${run}/finish`, {})
      const shown = await evaluations.get(`evaluation_runs/${run}`)
      assert.deepEqual(
        [shown['evaluation'], shown['model'], shown['status']],
        [evaluation, model, 'completed'],
      )
      assert.equal((await evaluations.get(`predictions/${prediction_id as string}`))['model'], model)
      const listed = await evaluations.lines(`evaluation_runs?models=${encodeURIComponent(model)}`)
      assert.deepEqual(
        listed.map(({ evaluation_run_id }) => evaluation_run_id),
        [run],
      )
      const { total_rows, summary, warnings } = (await evaluations.post('eval_results/query', {
        evaluation_run_ids: [run],
        include_summary: true,
      })) as unknown as {
        total_rows: number
        summary: { evaluations: readonly { evaluation_ref: string; model_ref: string }[] }
        warnings: readonly string[]
      }
      const [{ evaluation_ref, model_ref } = assert.fail()] = summary.evaluations
      assert.deepEqual([total_rows, evaluation_ref, model_ref, warnings], [1, evaluation, model, []])
    })

  it('are deleted with all their calls', async () => {
    const run = await evaluations.startRun()
    const prediction = await evaluations.predict(run, { q: 1 }, 'a')
    const score = await evaluations.score(prediction, 'exact', true)
    // A prediction is no run, and is left as it is.
    const query = `evaluation_run_ids=${run}&evaluation_run_ids=${prediction}&evaluation_run_ids=unknown`
    assert.deepEqual(await evaluations.remove(`evaluation_runs?${query}`), { num_deleted: 1 })
    for (const path of [`evaluation_runs/${run}`, `predictions/${prediction}`, `scores/${score}`])
      reasonOf(await service.send('GET', evaluations.at(path)), 404)
  })

  it('lose single scores and predictions', async () => {
    const run = await evaluations.startRun()
    const prediction = await evaluations.predict(run, { q: 1 }, 'a')
    const scores = [await evaluations.score(prediction, 'a', 1), await evaluations.score(prediction, 'b', 2)]
    assert.deepEqual(await evaluations.remove(`scores?score_ids=${scores[0]}`), { num_deleted: 1 })
    assert.equal((await evaluations.lines(`scores?evaluation_run_id=${run}`)).length, 1)
    assert.deepEqual(await evaluations.remove(`predictions?prediction_ids=${prediction}`), { num_deleted: 1 })
    assert.deepEqual(await evaluations.lines(`scores?evaluation_run_id=${run}`), [])
    assert.deepEqual(await evaluations.lines(`predictions?evaluation_run_id=${run}`), [])
  })

  it('are the same under the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': `key-${project}` }
    const start = (more: object) =>
      service.post(
        evaluations.at('evaluation_runs'),
        { evaluation: EVALUATION, model: MODEL, ...more },
        { headers },
      )
    const first = await start({})
    await writesNothing(service, async () => assert.deepEqual((await start({})).json(), first.json()))
    reasonOf(await start({ model: scorerRef('other') }), 409)
    const run = first.json<{ evaluation_run_id: string }>().evaluation_run_id
    const twice = async (path: string, body: object) => {
      const options = { headers: { 'idempotency-key': `${path}-${project}` } }
      const made = await evaluations.post(path, body, options)
      await writesNothing(service, async () =>
        assert.deepEqual(await evaluations.post(path, body, options), made),
      )
      return made
    }
    const body = { model: MODEL, inputs: { q: 1 }, output: 'a', evaluation_run_id: run }
    const { prediction_id } = await twice('predictions', body)
    await twice('scores', { prediction_id, scorer: scorerRef('exact'), value: 1 })
    assert.equal((await evaluations.lines(`predictions?evaluation_run_id=${run}`)).length, 1)
  })

  it('may have functions of an SDK as models and scorers', async () => {
    const run = await evaluations.startRun({ model: OP })
    const body = { model: OP, inputs: { q: 1 }, output: 'a', evaluation_run_id: run }
    const { prediction_id } = await evaluations.post('predictions', body)
    await evaluations.post('scores', { prediction_id, scorer: OP, value: 1 })
    assert.deepEqual(
      (await evaluations.lines(`scores?evaluation_run_id=${run}`)).map(({ scorer }) => scorer),
      [OP],
    )
  })

  it('may have predictions and scores outside of them', async () => {
    const prediction = await evaluations.predict(null, { q: 1 }, 'a')
    const score = await evaluations.score(prediction, 'exact', 0.5)
    assert.equal((await evaluations.get(`predictions/${prediction}`))['evaluation_run_id'], null)
    assert.equal((await evaluations.get(`scores/${score}`))['evaluation_run_id'], null)
    assert.deepEqual(await evaluations.post(`predictions/${prediction}/finish`, {}), { success: true })
    assert.equal((await evaluations.lines('scores')).length, 1)
  })

  it('are not found under ids of other calls and other projects', async () => {
    const run = await evaluations.startRun()
    const prediction = await evaluations.predict(run, { q: 1 }, 'a')
    const elsewhere = evaluationsOf(service, someProject())
    const unknown = async (path: string) => reasonOf(await service.send('GET', path), 404)
    assert.equal(
      await unknown(elsewhere.at(`evaluation_runs/${run}`)),
      await unknown(evaluations.at('evaluation_runs/unknown')),
    )
    await unknown(evaluations.at(`evaluation_runs/${prediction}`))
    await unknown(evaluations.at(`predictions/${run}`))
    await unknown(evaluations.at(`scores/${prediction}`))
    await unknown(elsewhere.at(`predictions?evaluation_run_id=${run}`))
    const create = { model: MODEL, inputs: {}, output: 1, evaluation_run_id: run }
    reasonOf(await service.post(elsewhere.at('predictions'), create), 404)
    const score = { prediction_id: prediction, scorer: scorerRef('exact'), value: 1 }
    reasonOf(await service.post(elsewhere.at('scores'), score), 404)
    reasonOf(await service.post(elsewhere.at(`evaluation_runs/${run}/finish`), {}), 404)
    reasonOf(await service.post(elsewhere.at(`predictions/${prediction}/finish`), {}), 404)
  })

  it('refuse wrong types, naming the field', async () => {
    for (const [path, body, problems] of [
      [
        'evaluation_runs',
        { evaluation: 'x'.repeat(8193), model: 7 },
        ['string_too_long evaluation', 'string_type model'],
      ],
      ['predictions', { model: MODEL, inputs: [] }, ['dict_type inputs', 'missing output']],
      ['scores', { prediction_id: 7, scorer: scorerRef('a'), value: 1 }, ['string_type prediction_id']],
      ['evaluations', { name: 'a', dataset: OP, scorers: [OP] }, ['string_pattern_mismatch dataset']],
    ] as const)
      assert.deepEqual(told(await service.post(evaluations.at(path), body)), problems)
  })
})
