import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { callsOfTrace, finishedStatus, logRun, rescore, scorerObject, type Call } from './logged-run.js'

const ROWS = [
  { example: { country: 'France', expected: 'Paris' }, output: 'Paris' },
  { example: { country: 'Japan', expected: 'Tokyo' }, output: 'tokyo' },
  { example: { country: 'Peru', expected: 'Lima' }, output: 'Quito' },
  { example: { country: 'Atlantis', expected: '?' }, output: null, exception: 'no such country' },
]

const named = (calls: readonly Call[], op: string) => calls.filter(({ op_name }) => op_name.includes(op))

describe('rescoring a run', () => {
  let service: TestService
  let project: string
  let source: string
  let exact: string
  let distance: string
  before(async () => {
    service = await sharedService()
    project = someProject()
    source = (await logRun(service, project, ROWS)).id
    const { objects } = service.in(project)
    exact = await objects.publish('exact', scorerObject('ExactMatchScorer'))
    distance = await objects.publish('distance', scorerObject('EditDistanceScorer'))
  })

  const rescored = async (refs: readonly string[]) => {
    const answer = await rescore(service, project, source, refs)
    assert.equal(answer.status, 200, answer.text)
    const { call_id, evaluation_run_id } = answer.json<{ call_id: string; evaluation_run_id: string }>()
    assert.equal(call_id, evaluation_run_id)
    return call_id
  }

  it('is running from the moment it is acknowledged, and completes with a summary for each scorer', async () => {
    const id = await rescored([exact, distance])
    const first = (await service.in(project).evaluations.status({ call_id: id })).json<{
      status: { code: string }
    }>()
    assert.ok(['running', 'complete'].includes(first.status.code), JSON.stringify(first))
    const status = await finishedStatus(service, project, id)
    assert.equal(status.code, 'complete', JSON.stringify(status))
    const output = status['output'] as Record<string, JsonObject>
    assert.deepEqual(Object.keys(output), ['exact', 'distance', 'model_latency'])
    const { exact_match } = output['exact'] as { exact_match: JsonObject }
    assert.equal(exact_match['true_count'], 1)
    assert.equal(exact_match['true_fraction'], 1 / 4)
    assert.deepEqual(output['model_latency'], { mean: 0.5, count: 4, row_count: 4 })
    assert.deepEqual(status['warnings'], ['1 of 4 predictions were not scored: the prediction failed'])
  })

  it('writes a tree of calls like the one of the SDK', async () => {
    const id = await rescored([exact, distance])
    await finishedStatus(service, project, id)
    const calls = await callsOfTrace(service, project, id)
    const [root] = named(calls, 'Evaluation.evaluate')
    assert.ok(root !== undefined)
    assert.equal(root.id, id)
    assert.match(root.display_name ?? '', /^eval-\d{4}-\d\d-\d\d-[a-z]+-[a-z]+$/)
    const { weave } = root['attributes'] as { weave: JsonObject }
    assert.equal(weave['evaluation_run'], 'true')
    assert.equal(weave['source_evaluation_run_id'], source)
    const rows = named(calls, 'Evaluation.predict_and_score')
    assert.deepEqual(
      rows.map(({ parent_id, inputs, output }) => [
        parent_id,
        inputs['example'],
        (output as JsonObject)['output'],
      ]),
      ROWS.map(({ example, output }) => [id, example, output]),
    )
    const scores = rows.map(({ output }) => (output as { scores: JsonObject }).scores)
    assert.deepEqual(
      scores.map((score) => (score['exact'] as JsonObject | undefined)?.['exact_match']),
      [true, false, false, undefined],
    )
    for (const [index, row] of rows.entries()) {
      const below = calls.filter(({ parent_id }) => parent_id === row.id).map(({ op_name }) => op_name)
      assert.deepEqual(
        below.map((op) => op.replace(/^.*\/op\//, '').replace(/:.*/, '')).toSorted(),
        index === 3 ? ['Model.predict'] : ['Model.predict', 'distance.score', 'exact.score'],
      )
    }
    assert.equal(named(calls, 'Evaluation.summarize').length, 1)
    assert.ok(calls.every(({ ended_at }) => ended_at !== null))
  })

  it('reports no usage for copied predictions', async () => {
    const id = await rescored([exact])
    await finishedStatus(service, project, id)
    for (const call of await callsOfTrace(service, project, id))
      assert.equal(call.summary['usage'], undefined)
  })

  it('publishes the Evaluation object with the new scorers as a new version', async () => {
    const id = await rescored([distance])
    await finishedStatus(service, project, id)
    const [root] = named(await callsOfTrace(service, project, id), 'Evaluation.evaluate')
    const { vals } = (await service.post('/refs/read_batch', { refs: [root!.inputs['self']] })).json<{
      vals: JsonObject[]
    }>()
    assert.deepEqual([vals[0]!['name'], vals[0]!['scorers']], ['capitals', [distance]])
  })

  it('leaves the source as it was', async () => {
    const before = await callsOfTrace(service, project, source)
    await finishedStatus(service, project, await rescored([exact]))
    assert.deepEqual(await callsOfTrace(service, project, source), before)
  })

  it('runs once when the request is repeated with its Idempotency-Key', async () => {
    const options = { headers: { 'idempotency-key': 'rescore-once' } }
    const [first, repeat] = [
      await rescore(service, project, source, [exact], options),
      await rescore(service, project, source, [exact], options),
    ]
    assert.deepEqual([repeat.status, repeat.text], [200, first.text])
    const other = await rescore(service, project, source, [distance], options)
    assert.equal(other.status, 409)
    await finishedStatus(service, project, first.json<{ call_id: string }>().call_id)
  })

  it('gives null and a warning for a scorer whose code is in an SDK', async () => {
    const code = await service
      .in(project)
      .objects.publish('custom', scorerObject('MyScorer', { name: 'custom' }))
    const status = await finishedStatus(service, project, await rescored([code, exact]))
    assert.equal(status.code, 'complete')
    assert.match(
      (status['warnings'] as string[]).join('\n'),
      /custom gave no score for 3 of 4 rows: MyScorer is code of an SDK/,
    )
  })
})

describe('a request to rescore', () => {
  let service: TestService
  let project: string
  let source: string
  let exact: string
  before(async () => {
    service = await sharedService()
    project = someProject()
    source = (await logRun(service, project, ROWS.slice(0, 1))).id
    exact = await service.in(project).objects.publish('exact', scorerObject('ExactMatchScorer'))
  })

  const problem = async (body: JsonObject) => {
    const answer = await service
      .in(project)
      .evaluations.rescore({ source_evaluation_run_id: source, scorer_refs: [exact], ...body })
    const { detail } = answer.json<{ detail?: { loc: unknown[] }[] }>()
    return [answer.status, Array.isArray(detail) ? detail[0]!.loc.join('.') : undefined]
  }

  it('names the field that is not valid', async () => {
    assert.deepEqual(await problem({ scorer_refs: [] }), [422, 'body.scorer_refs'])
    assert.deepEqual(await problem({ scorer_refs: [exact, 'no ref'] }), [422, 'body.scorer_refs.1'])
    assert.deepEqual(await problem({ scorer_refs: [exact, exact] }), [422, 'body.scorer_refs.1'])
    assert.deepEqual(await problem({ scorer_refs: 'exact' }), [422, 'body.scorer_refs'])
    assert.deepEqual(await problem({ wb_user_id: 'me' }), [422, 'body.wb_user_id'])
    assert.deepEqual(await problem({ source_evaluation_run_id: 7 }), [422, 'body.source_evaluation_run_id'])
  })

  it('tolerates keys that it does not know', async () => {
    const known = { project_id: project, source_evaluation_run_id: source, scorer_refs: [exact] }
    const answer = await service.post('/evaluations/rescore', { ...known, other: 1 })
    assert.equal(answer.status, 200)
    await finishedStatus(service, project, answer.json<{ call_id: string }>().call_id)
  })

  it('is not found when the run or a scorer does not exist', async () => {
    assert.deepEqual(await problem({ source_evaluation_run_id: 'unknown' }), [404, undefined])
    assert.deepEqual(await problem({ scorer_refs: [`weave:///${project}/object/none:1`] }), [404, undefined])
    assert.deepEqual(await problem({ scorer_refs: ['weave:///other/project/object/none:1'] }), [
      404,
      undefined,
    ])
  })

  it('is refused when the call is not an evaluation run', async () => {
    const [prediction] = named(await callsOfTrace(service, project, source), 'Model.predict')
    assert.deepEqual(await problem({ source_evaluation_run_id: prediction!.id }), [
      422,
      'body.source_evaluation_run_id',
    ])
  })

  it('is not found for a run of another project, without a hint that it exists', async () => {
    const other = someProject()
    const foreign = (await logRun(service, other, ROWS.slice(0, 1))).id
    const missing = await rescore(service, project, 'unknown-run', [exact])
    const answer = await rescore(service, project, foreign, [exact])
    assert.deepEqual([answer.status, answer.text.replace(foreign, 'unknown-run')], [404, missing.text])
  })
})
