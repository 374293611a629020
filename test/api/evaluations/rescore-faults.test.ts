import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { callsOfTrace, finishedStatus, logRun, rescore, scorerObject, type LoggedRow } from './logged-run.js'

describe('rescoring a run with faults', () => {
  let service: TestService
  let project: string
  let exact: string
  before(async () => {
    service = await sharedService()
    project = someProject()
    exact = await service.in(project).objects.publish('exact', scorerObject('ExactMatchScorer'))
  })

  const rescored = async (rows: readonly LoggedRow[], scorers: readonly string[]) => {
    const source = (await logRun(service, project, rows)).id
    const answer = await rescore(service, project, source, scorers)
    assert.equal(answer.status, 200, answer.text)
    const { call_id: id } = answer.json<{ call_id: string }>()
    const status = await finishedStatus(service, project, id)
    assert.equal(status.code, 'complete', JSON.stringify(status))
    const calls = await callsOfTrace(service, project, id)
    const rowCalls = calls.filter(({ op_name }) => op_name.includes('predict_and_score'))
    return { status, calls, scores: rowCalls.map(({ output }) => (output as { scores: JsonObject }).scores) }
  }

  it('does not score failed and unfinished predictions, and says how many', async () => {
    const example = { expected: 'Paris' }
    const { status, calls, scores } = await rescored(
      [
        { example, output: 'Paris' },
        { example, output: null, exception: 'out of memory' },
        { example, output: null, isUnfinished: true },
        { example, output: null },
      ],
      [exact],
    )
    assert.deepEqual(
      scores.map(({ exact: score }) => score),
      [{ exact_match: true }, undefined, undefined, { exact_match: false }],
    )
    const warnings = status['warnings'] as string[]
    assert.equal(warnings.length, 1, JSON.stringify(warnings))
    assert.match(warnings[0]!, /^2 of 4 predictions were not scored: the prediction /)
    assert.deepEqual((status['output'] as JsonObject)['exact'], {
      exact_match: { count: 2, true_count: 1, true_fraction: 0.25, none_count: 2, row_count: 4 },
      none_count: 2,
    })
    assert.ok(calls.every(({ ended_at }) => ended_at !== null))
  })

  it('completes a run without rows', async () => {
    const { status, scores } = await rescored([], [exact])
    assert.deepEqual([scores, status['warnings']], [[], []])
    assert.deepEqual(Object.keys(status['output'] as JsonObject), ['exact', 'model_latency'])
  })

  it('scores outputs and examples of every type', async () => {
    const values: readonly Json[] = [
      null,
      0,
      true,
      '',
      [],
      {},
      [[1]],
      { a: { b: [null] } },
      'x'.repeat(50_000),
    ]
    const classes = ['EditDistanceScorer', 'NumericToleranceScorer', 'ContainsScorer', 'ValidJSONScorer']
    const refs = await Promise.all(
      classes.map((name) => service.in(project).objects.publish(name, scorerObject(name))),
    )
    const { scores } = await rescored(
      values.flatMap((value) => [
        { example: { expected: value }, output: value },
        { example: value, output: 'text' },
      ]),
      [exact, ...refs],
    )
    assert.equal(scores.length, 2 * values.length)
    assert.ok(scores.every((row) => Object.keys(row).length === 5))
    for (const index of values.keys())
      assert.deepEqual(scores[2 * index]!['exact'], { exact_match: true }, JSON.stringify(values[index]))
  })

  it('keeps the scores of other scorers where one fails', async () => {
    const { objects } = service.in(project)
    const broken = await objects.publish(
      'broken',
      scorerObject('HTTPScorer', { url: 'http://127.0.0.1:1/', secret: 'NONE' }),
    )
    const code = await objects.publish('code', scorerObject('OwnScorer'))
    const { status, scores } = await rescored(
      [{ example: { expected: 'Paris' }, output: 'Paris' }],
      [broken, exact, code],
    )
    assert.deepEqual(scores, [{ broken: null, exact: { exact_match: true }, code: null }])
    assert.equal((status['warnings'] as string[]).length, 2)
  })

  it('shows nothing of another team', async () => {
    const team = `team-${randomUUID().slice(0, 8)}`
    await service.teams.create(team)
    const added = await service.post(`/api/teams/${team}/members`, { user: `of-${team}`, role: 'member' })
    const options = { key: added.json<{ api_key: string }>().api_key }
    const own = `${team}/project`
    const rows = [{ example: { expected: 'Paris' }, output: 'Paris' }]
    const foreign = (await logRun(service, project, rows)).id
    const mine = (await logRun(service, own, rows, options)).id
    const { objects } = service.in(own).with(options)
    const scorer = await objects.publish('exact', scorerObject('ExactMatchScorer'))

    const inProject = await rescore(service, project, foreign, [exact], options)
    const nowhere = await rescore(service, 'nowhere/project', foreign, [exact], options)
    assert.equal(inProject.status, nowhere.status)
    assert.equal(inProject.text.replaceAll(project, 'nowhere/project'), nowhere.text)
    assert.equal((await rescore(service, own, foreign, [scorer], options)).status, 404)

    const missing = exact.replace(/[^:]+$/, 'x'.repeat(43))
    const [read, unknown] = [
      await rescore(service, own, mine, [exact], options),
      await rescore(service, own, mine, [missing], options),
    ]
    assert.deepEqual([read.status, read.text.replace(exact, missing)], [404, unknown.text])

    // A judge may refer to an object that only the other team can read.
    const judge = await objects.publish('judge', {
      ...scorerObject('LLMAsAJudgeScorer'),
      model: exact,
      scoring_prompt: '{output}',
    })
    const refused = await rescore(service, own, mine, [judge], options)
    assert.equal(refused.status, 422)
    assert.match(refused.text, /which .* refers to, does not exist/)
    const read404 = await service.in(own).with(options).evaluations.status({ call_id: foreign })
    assert.equal(read404.json<{ status: JsonObject }>().status['code'], 'not_found')
  })

  it('does not need the Evaluation object of its source', async () => {
    const create = await service.post(`/v2/${project}/evaluation_runs`, {
      evaluation: `weave:///${project}/object/unpublished:v0`,
      model: `weave:///${project}/object/unpublished-model:v0`,
    })
    const { evaluation_run_id } = create.json<{ evaluation_run_id: string }>()
    await service.post(`/v2/${project}/predictions`, {
      model: `weave:///${project}/object/unpublished-model:v0`,
      evaluation_run_id,
      inputs: { expected: 'Paris' },
      output: 'Paris',
    })
    const { call_id } = (await rescore(service, project, evaluation_run_id, [exact])).json<{
      call_id: string
    }>()
    const status = await finishedStatus(service, project, call_id)
    assert.equal(status.code, 'complete', JSON.stringify(status))
  })

  it('has no status once it is deleted', async () => {
    const { id } = await logRun(service, project, [{ example: { expected: 'Paris' }, output: 'Paris' }])
    const { call_id } = (await rescore(service, project, id, [exact])).json<{ call_id: string }>()
    assert.equal((await finishedStatus(service, project, call_id)).code, 'complete')
    await service.in(project).calls.delete(call_id)
    assert.deepEqual(await finishedStatus(service, project, call_id), { code: 'not_found' })
  })

  it('is refused with a scorer whose name the summary uses', async () => {
    const { id } = await logRun(service, project, [])
    const scorer = await service
      .in(project)
      .objects.publish('model_latency', scorerObject('ExactMatchScorer'))
    const answer = await rescore(service, project, id, [exact, scorer])
    assert.equal(answer.status, 422, answer.text)
    const { detail } = answer.json<{ detail: readonly { loc: Json; msg: string }[] }>()
    assert.deepEqual(detail[0]!.loc, ['body', 'scorer_refs', 1])
    assert.match(detail[0]!.msg, /"model_latency"/)
  })
})
