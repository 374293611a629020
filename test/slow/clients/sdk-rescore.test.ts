import {
  assertAsked,
  assertCompared,
  assertResults,
  assertScores,
  type Rescored,
} from '../../e2e/rescored/assertions.js'
import {
  COLUMNS,
  introduce,
  JUDGE_MODEL,
  JUDGE_PROMPT,
  OUTSIDE_ALLOWED,
  startOutsideScorers,
  type OutsideScorers,
} from '../../e2e/rescored/outside-scorers.js'
import { assertNoneRefused, opOf, startSdkService, type SdkService } from '../../e2e/sdk-service.js'
import { finishedStatus, rescore, scorerObject } from '../../api/evaluations/logged-run.js'

const PROJECT = 'team/rescoring'

describe('a rescore of a run of the SDK of npm', () => {
  let sdk: SdkService
  let outside: OutsideScorers
  let rescored: Rescored
  before(async () => {
    outside = await startOutsideScorers()
    sdk = await startSdkService(OUTSIDE_ALLOWED)
    const { service } = sdk
    await sdk.told('evaluating', PROJECT)
    await introduce(sdk, outside)
    const source = (await sdk.callsOf(PROJECT)).find((call) => opOf(call) === 'Evaluation.evaluate')!.id
    const { objects } = service.in(PROJECT)
    const model = await objects.publish('judge-model', {
      _type: 'LLMStructuredCompletionModel',
      _class_name: 'LLMStructuredCompletionModel',
      _bases: ['Model', 'Object', 'BaseModel'],
      llm_model_id: JUDGE_MODEL,
      default_params: { temperature: 0, response_format: 'json_object' },
    })
    const scorers = [
      await objects.publish('exact-match', scorerObject('ExactMatchScorer', { column_map: COLUMNS })),
      await objects.publish('distance', scorerObject('EditDistanceScorer', { column_map: COLUMNS })),
      await objects.publish('exact', scorerObject('HTTPScorer', { url: outside.url, secret: 'SCORER' })),
      await objects.publish(
        'judged',
        scorerObject('LLMAsAJudgeScorer', {
          model,
          scoring_prompt: JUDGE_PROMPT,
          column_map: { output: COLUMNS.output },
        }),
      ),
    ]
    const asked = await rescore(service, PROJECT, source, scorers)
    const { call_id: run } = asked.json<{ call_id: string }>()
    rescored = { project: PROJECT, source, run, status: await finishedStatus(service, PROJECT, run) }
  })
  after(async () => {
    await sdk.stop()
    await outside.stop()
  })

  it('has the scores and the summary that are computed apart', () => assertScores(sdk, rescored))

  it('asked the HTTP scorer and the judge once for each row, and counts the usage of the judge only', () =>
    assertAsked(sdk, rescored, outside))

  it('is read row by row beside its source', () => assertResults(sdk, rescored))

  it('is compared with its source', () => assertCompared(sdk, rescored))

  it('had no request of the SDK refused', () => assertNoneRefused(sdk.proxy))
})
