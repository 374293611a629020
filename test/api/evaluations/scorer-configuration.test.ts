import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import type { Answered } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, writesNothing } from '../calls/given.js'
import { logRun, rescore, scorerObject } from './logged-run.js'

describe('a scorer with an invalid configuration', () => {
  let service: TestService
  let project: string
  let exact: string
  let requests: Readonly<Record<string, (scorers: readonly string[]) => Promise<Answered>>>
  let fields: Readonly<Record<string, readonly string[]>>

  before(async () => {
    service = await sharedService()
    project = someProject()
    const { objects } = service.in(project)
    exact = await objects.publish('exact', scorerObject('ExactMatchScorer'))
    const source = (await logRun(service, project, [{ example: { expected: 'a' }, output: 'a' }])).id
    const table = await service.in(project).tables.create([{ a: 1 }])
    const { digest } = table.json<{ digest: string }>()
    const dataset = await objects.publish('rows', { rows: `weave:///${project}/table/${digest}` })
    const model_ref = await objects.publish('model', { llm_model_id: 'gpt' })
    const rules = `/api/evaluation-rules/${project}`
    const rule = accepted(await service.post(rules, { name: 'rule', scorer_refs: [exact] }))
    const body = { name: 'rule' }
    requests = {
      rescore: (scorers) => rescore(service, project, source, scorers),
      'evaluate a model': async (scorers) =>
        service
          .in(project)
          .evaluations.evaluateModel({
            model_ref,
            evaluation_ref: await objects.publish('letters', { dataset, scorers: [...scorers] }),
          }),
      'create a rule': (scorers) => service.post(rules, { ...body, scorer_refs: scorers }),
      'change a rule': (scorers) =>
        service.send('PATCH', `${rules}/${rule['id'] as string}`, { scorer_refs: scorers }),
    }
    fields = { 'evaluate a model': ['evaluation_ref', 'scorers'] }
  })

  const judge = { model: { llm_model_id: 'gpt' }, scoring_prompt: '{output}' }
  const other = 'weave:///nowhere/project/object/other:v0'
  const invalid: readonly (readonly [string, JsonObject, RegExp])[] = [
    ['RegexScorer', {}, /: pattern: Field required/],
    ['RegexScorer', { pattern: 7 }, /: pattern: /],
    ['RegexScorer', { pattern: 'a(b' }, /: pattern: Invalid pattern/],
    ['RegexScorer', { pattern: '(?=a)' }, /: pattern: Invalid pattern/],
    ['RegexScorer', { pattern: 'a', full_match: 'yes' }, /: full_match: /],
    ['JSONSchemaScorer', { schema: 'text' }, /: schema: Input should be a JSON Schema/],
    ['JSONSchemaScorer', { schema: { type: 'unknown' } }, /: schema: schema is invalid/],
    [
      'JSONSchemaScorer',
      { schema: { $ref: 'https://elsewhere.example/' } },
      /: schema: can't resolve reference/,
    ],
    ['JSONSchemaScorer', { schema: { pattern: '(' } }, /: schema: Invalid pattern/],
    ['NumericToleranceScorer', { absolute_tolerance: -1 }, /: absolute_tolerance: /],
    ['ContainsScorer', { values: [] }, /: values: /],
    ['ExactMatchScorer', { column_map: { answer: 'a' } }, /: column_map: .*answer/],
    ['HTTPScorer', { url: 'not a url', secret: 'S' }, /: url: /],
    ['HTTPScorer', { url: 'ftp://host.example/', secret: 'S' }, /: url: /],
    ['HTTPScorer', { url: 'https://host.example/' }, /: secret: Field required/],
    ['HTTPScorer', { url: 'https://host.example/', secret: 'S', timeout_s: 0 }, /: timeout_s: /],
    ['LLMAsAJudgeScorer', { model: judge.model }, /: scoring_prompt: Field required/],
    ['LLMAsAJudgeScorer', { ...judge, model: { llm_model_id: 7 } }, /: model.llm_model_id: /],
    ['LLMAsAJudgeScorer', { ...judge, model: other }, /other:v0, which .* refers to, does not exist/],
    ['LLMAsAJudgeScorer', { ...judge, scoring_prompt: { messages: [] } }, /: scoring_prompt.messages: /],
  ]

  for (const name of ['rescore', 'evaluate a model', 'create a rule', 'change a rule'])
    it(`is a 422 that names the field and the rule in a request to ${name}`, async () => {
      for (const [className, parameters, message] of invalid) {
        const scorer = await service
          .in(project)
          .objects.publish('invalid', scorerObject(className, parameters))
        const { status, text } = await requests[name]!([exact, scorer])
        const context = `${className} ${JSON.stringify(parameters)}: ${text}`
        assert.equal(status, 422, context)
        const [problem] = (JSON.parse(text) as { detail: readonly { loc: Json; msg: string }[] }).detail
        assert.deepEqual(problem!.loc, ['body', ...(fields[name] ?? ['scorer_refs']), 1], context)
        assert.match(JSON.stringify(problem!.msg), message)
        assert.ok(problem!.msg.includes(scorer), context)
      }
    })

  it('writes nothing', async () => {
    const scorer = await service
      .in(project)
      .objects.publish('invalid', scorerObject('RegexScorer', { pattern: '(' }))
    await writesNothing(service, async () => {
      for (const name of ['rescore', 'create a rule', 'change a rule'])
        assert.equal((await requests[name]!([scorer])).status, 422)
    })
  })

  it('is a 422 under a reference to an op', async () => {
    for (const [name, request] of Object.entries(requests)) {
      const { status, text } = await request([exact.replace('/object/', '/op/')])
      assert.equal(status, 422, `${name}: ${text}`)
      const [problem] = (JSON.parse(text) as { detail: readonly { loc: Json; msg: string }[] }).detail
      assert.deepEqual(problem!.loc, ['body', ...(fields[name] ?? ['scorer_refs']), 0])
      assert.match(problem!.msg, /not an op/)
    }
  })

  it('is accepted if it is an op', async () => {
    const val = { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: {} }
    const op = (await service.in(project).objects.publish('is-equal', val)).replace('/object/', '/op/')
    for (const [name, request] of Object.entries(requests))
      assert.equal((await request([exact, op])).status, 200, name)
  })

  it('is accepted if it is code of an SDK, whatever its fields are', async () => {
    const code = await service
      .in(project)
      .objects.publish(
        'code',
        scorerObject('RegexScorer', { pattern: '(', score: `weave:///${project}/op/RegexScorer.score:v0` }),
      )
    for (const [name, request] of Object.entries(requests))
      assert.equal((await request([exact, code])).status, 200, name)
  })
})
