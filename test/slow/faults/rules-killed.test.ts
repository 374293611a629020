import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { scorerObject } from '../../api/evaluations/logged-run.js'
import { COUNTS } from '../../counts.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { startScorerServer, type ScorerServer } from '../../support/scorer-server.js'
import { until } from '../../support/until.js'

const PROJECT = 'default/online'
const KILLS = COUNTS.rescoreKills
const CALLS = 40

describe('kill -9 of the service while rules score calls', () => {
  let service: RunningService
  let scorer: ScorerServer
  before(async () => {
    scorer = await startScorerServer(() => 1)
    service = await startRunningService({ TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' })
  })
  after(async () => {
    await service.remove()
    scorer.stop()
  })

  const feedback = async () =>
    (await service.in(PROJECT).feedback.query()).json<{ result: JsonObject[] }>().result

  it('scores each call once, and marks what it may have asked before', async () => {
    const fields = { url: scorer.url, secret: 'SCORER', max_concurrency: 2 }
    const { objects } = service.in(PROJECT)
    const refs = [
      await objects.publish('exact', scorerObject('ExactMatchScorer')),
      await objects.publish('remote', scorerObject('HTTPScorer', fields)),
    ]
    await service.send('PUT', '/api/teams/default/secrets/SCORER', {
      value: 'a secret of the scorer',
      used_for: ['scorers'],
    })
    const rule = { name: 'all', scorer_refs: refs, filter: { op_names: ['answer'] } }
    assert.equal((await service.post(`/api/evaluation-rules/${PROJECT}`, rule)).status, 200)
    for (let kill = 0; kill < KILLS; kill += 1) {
      const batch = Array.from({ length: CALLS }, (_, at) => ({
        project_id: PROJECT,
        id: `call-${kill}-${at}`,
        trace_id: `call-${kill}-${at}`,
        op_name: 'answer',
        started_at: '2026-01-01T00:00:00Z',
        ended_at: '2026-01-01T00:00:01Z',
        attributes: {},
        inputs: { expected: 'a' },
        output: 'a',
        summary: {},
      }))
      assert.equal((await service.post(`/v2/${PROJECT}/calls/complete`, { batch })).status, 200)
      const before = scorer.posted.length
      await until(() => scorer.posted.length > before + CALLS / 4)
      await service.kill('SIGKILL')
      await service.restart()
    }
    await until(async () => (await feedback()).length >= 2 * CALLS * KILLS)
    const scored = (await feedback()).map(
      (one) => `${one['weave_ref'] as string} ${one['feedback_type'] as string}`,
    )
    assert.equal(new Set(scored).size, 2 * CALLS * KILLS)
    assert.equal(scored.length, 2 * CALLS * KILLS)
    const seen = new Set<string>()
    for (const { id, isRepeat } of scorer.posted) {
      assert.ok(isRepeat || !seen.has(id), `${id} was posted again without a mark`)
      seen.add(id)
    }
  })
})
