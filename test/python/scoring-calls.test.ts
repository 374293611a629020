import assert from 'node:assert/strict'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { assertNoneRefused, opOf } from '../e2e/sdk-service.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

const PROJECT = 'team/scoring'

interface Printed {
  readonly calls: readonly [string, string]
  readonly ids: Readonly<Record<string, string>>
  readonly result: JsonObject
  readonly score_call: string
  readonly read: readonly JsonObject[]
  readonly thumbs_down: readonly string[]
  readonly scored_by: readonly string[]
  readonly with_feedback: readonly (readonly string[])[]
}

describe('feedback and scores by the Python package', () => {
  let sdk: PythonSdk
  let printed: Printed
  before(async () => {
    sdk = await startPythonSdk()
    printed = await sdk.printed('scoring_calls.py', [PROJECT])
  })
  after(() => sdk.stop())

  it('are stored with their payloads, but for what was taken back', async () => {
    const { ids, calls } = printed
    const { result } = await sdk.answered<{ result: readonly JsonObject[] }>('/feedback/query', {
      project_id: PROJECT,
    })
    const refs = calls.map((id) => `weave:///${PROJECT}/call/${id}`)
    const given = new Map(result.map((feedback) => [feedback['id'], feedback]))
    assert.equal(result.length, 5)
    for (const [id, weave_ref, feedback_type, part] of [
      [ids['reaction'], refs[0], 'wandb.reaction.1', { emoji: '👍' }],
      [ids['note'], refs[0], 'wandb.note.1', { note: 'A fine greeting' }],
      [ids['custom'], refs[0], 'correction', { text: 'Good day, Ada', score: 0.75 }],
      [ids['other'], refs[1], 'wandb.reaction.1', { emoji: '👎' }],
    ] as const) {
      const { payload, ...feedback } = given.get(id)!
      assert.deepEqual([feedback['weave_ref'], feedback['feedback_type']], [weave_ref, feedback_type])
      assert.deepEqual({ ...(payload as JsonObject), ...part }, payload)
    }
  })

  it('have the call of an applied scorer, which the feedback names', async () => {
    assert.deepEqual(printed.result, { polite: true })
    const score = (await sdk.callsOf(PROJECT)).find(({ id }) => id === printed.score_call)!
    assert.deepEqual([opOf(score), score.output], ['Politeness.score', { polite: true }])
    const { result } = await sdk.answered<{ result: readonly JsonObject[] }>('/feedback/query', {
      project_id: PROJECT,
    })
    const given = result.find(({ feedback_type }) => feedback_type === 'wandb.runnable.Politeness')!
    assert.deepEqual(
      [given['weave_ref'], given['call_ref'], given['payload'], given['runnable_ref']],
      [
        `weave:///${PROJECT}/call/${printed.calls[0]}`,
        `weave:///${PROJECT}/call/${score.id}`,
        { output: { polite: true } },
        score.inputs['self'],
      ],
    )
  })

  it('are read and searched', () => {
    const types = ['correction', 'wandb.note.1', 'wandb.reaction.1', 'wandb.runnable.Politeness']
    assert.deepEqual(printed.read.map(({ type }) => type).sort(), types)
    assert.deepEqual(printed.with_feedback, [types])
    assert.deepEqual(printed.thumbs_down, [`weave:///${PROJECT}/call/${printed.calls[1]}`])
    assert.deepEqual(printed.scored_by, [printed.calls[0]])
  })

  it('had no request refused', () => assertNoneRefused(sdk.proxy))
})
