import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import {
  callsOfTrace,
  finishedStatus,
  logRun,
  rescore,
  scorerObject,
  type Call,
} from '../../api/evaluations/logged-run.js'
import { COUNTS } from '../../counts.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { startScorerServer, type ScorerServer } from '../../support/scorer-server.js'

const PROJECT = 'default/rescored'
const ROWS = COUNTS.rescoredRows
const KILLS = COUNTS.rescoreKills

describe('kill -9 of the service during a rescore', () => {
  let service: RunningService
  let scorer: ScorerServer
  before(async () => {
    scorer = await startScorerServer(({ output }) => (output as string).length)
    service = await startRunningService({ TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' })
  })
  after(async () => {
    await service.remove()
    scorer.stop()
  })

  /** The scores of each row by its example, and what the run sums up to. */
  const resultOf = async (run: string) => {
    const calls = await callsOfTrace(service, PROJECT, run)
    const rows = calls.filter(({ op_name }) => op_name.includes('predict_and_score'))
    const root = calls.find(({ id }) => id === run)
    return { calls, rows: scoresOf(rows), summary: root?.output ?? null }
  }

  it(`gives the result of an undisturbed run after ${KILLS} kills`, async () => {
    const source = await logRun(
      service,
      PROJECT,
      Array.from({ length: ROWS }, (_, row) => ({
        example: { row, expected: `answer ${row % 7}` },
        output: `answer ${row % 5}`,
      })),
    )
    const secret = await service.send('PUT', '/api/teams/default/secrets/SCORER', {
      value: 'a secret of the scorer',
      used_for: ['scorers'],
    })
    assert.ok(secret.status < 300, secret.text)
    const { objects } = service.in(PROJECT)
    const refs = [
      await objects.publish('exact', scorerObject('ExactMatchScorer')),
      await objects.publish(
        'remote',
        scorerObject('HTTPScorer', { url: scorer.url, secret: 'SCORER', max_concurrency: 16 }),
      ),
    ]
    const start = async () =>
      (await rescore(service, PROJECT, source.id, refs)).json<{ call_id: string }>().call_id

    const undisturbed = await start()
    assert.equal((await finishedStatus(service, PROJECT, undisturbed)).code, 'complete')
    const expected = await resultOf(undisturbed)
    assert.equal(scorer.posted.length, ROWS)
    assert.ok(scorer.posted.every(({ isRepeat }) => !isRepeat))

    scorer.posted.length = 0
    const disturbed = await start()
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = scorer.posted.length
      const patience = Date.now() + 3000
      while (scorer.posted.length < before + ROWS / (2 * KILLS) && Date.now() < patience) await sleep(5)
      await sleep(Math.random() * 50)
      await service.kill('SIGKILL')
      await service.restart()
    }
    assert.equal((await finishedStatus(service, PROJECT, disturbed)).code, 'complete')
    const result = await resultOf(disturbed)

    assert.deepEqual(result.rows, expected.rows)
    assert.deepEqual(result.summary, expected.summary)
    assert.equal(result.calls.length, expected.calls.length)
    assert.ok(result.calls.every(({ ended_at }) => ended_at !== null))
    const scored = result.calls.flatMap(({ attributes }) => {
      const { score, scorer, prediction_id } = (attributes['weave'] ?? {}) as JsonObject
      return score === 'true' ? [JSON.stringify([prediction_id, scorer])] : []
    })
    assert.equal(scored.length, ROWS * refs.length)
    assert.equal(new Set(scored).size, scored.length)
    const seen = new Set<string>()
    let repeats = 0
    for (const { id, isRepeat } of scorer.posted) {
      if (seen.has(id)) repeats += 1
      assert.ok(!seen.has(id) || isRepeat, `${id} was posted again without a mark`)
      seen.add(id)
    }
    assert.equal(seen.size, ROWS)
    console.log(
      `      ${JSON.stringify({ rows: ROWS, kills: KILLS, posted: scorer.posted.length, repeats })}`,
    )
  })
})

const scoresOf = (rows: readonly Call[]): JsonObject => {
  const scores: Record<string, Json> = {}
  for (const { inputs, output } of rows) {
    const { row } = inputs['example'] as { row: number }
    assert.ok(!(String(row) in scores), `row ${row} is there twice`)
    scores[String(row)] = (output as JsonObject)['scores']!
  }
  return scores
}
