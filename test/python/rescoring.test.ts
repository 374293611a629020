import assert from 'node:assert/strict'
import type { JsonObject } from '../../src/kernel/json/json.js'
import {
  assertAsked,
  assertCompared,
  assertResults,
  assertScores,
  type Rescored,
} from '../e2e/rescored/assertions.js'
import {
  introduce,
  JUDGE_MODEL,
  JUDGE_PROMPT,
  OUTSIDE_ALLOWED,
  startOutsideScorers,
  type OutsideScorers,
} from '../e2e/rescored/outside-scorers.js'
import { assertNoneRefused } from '../e2e/sdk-service.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

const PROJECT = 'team/rescoring'

describe('a rescore of a run of the Python package, requested by the package', () => {
  let sdk: PythonSdk
  let outside: OutsideScorers
  let rescored: Rescored
  before(async () => {
    outside = await startOutsideScorers()
    sdk = await startPythonSdk(OUTSIDE_ALLOWED)
    const evaluated = await sdk.printed<{ run: string; evaluation: string }>('evaluating.py', [PROJECT])
    await introduce(sdk, outside)
    const { vals } = await sdk.answered<{ vals: readonly [{ scorers: readonly string[] }] }>(
      '/refs/read_batch',
      { refs: [evaluated.evaluation] },
    )
    const printed = await sdk.printed<{ run: string; status: JsonObject }>('rescoring.py', [
      PROJECT,
      evaluated.run,
      vals[0].scorers[1]!,
      outside.url,
      JUDGE_MODEL,
      JUDGE_PROMPT,
    ])
    rescored = { project: PROJECT, source: evaluated.run, ...printed, codeScorer: 'Length' }
  })
  after(async () => {
    await sdk.stop()
    await outside.stop()
  })

  it('has the scores and the summary that are computed apart', () => assertScores(sdk, rescored))

  it('warns of the scorer whose code it cannot run, and of the failed prediction', () => {
    const [failed, code, ...more] = rescored.status['warnings'] as readonly string[]
    assert.match(code!, /^scorer Length gave no score for 4 of 5 rows/)
    assert.match(failed!, /^1 of 5 predictions were not scored/)
    assert.deepEqual(more, [])
  })

  it('asked the HTTP scorer and the judge once for each row, and counts the usage of the judge only', () =>
    assertAsked(sdk, rescored, outside))

  it('is read row by row beside its source', () => assertResults(sdk, rescored))

  it('is compared with its source', () => assertCompared(sdk, rescored))

  it('had no request refused', () => assertNoneRefused(sdk.proxy))
})
