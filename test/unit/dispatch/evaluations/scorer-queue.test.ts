import assert from 'node:assert/strict'
import { queuedScorer } from '../../../../src/dispatch/evaluations/scorer-queue.js'
import type { ScoreContext, ScoreRow } from '../../../../src/domain/evaluation/scoring.js'

const scorer = (score: ScoreRow, maxConcurrency = 2) => ({
  ...{ ref: 'ref', name: 'remote', reason: '', isLocal: false, maxPerSecond: null },
  ...{ score, maxConcurrency },
})
const context = (signal = new AbortController().signal) => ({ signal }) as ScoreContext
const ROW = { example: {}, output: null }

describe('the queue of a scorer', () => {
  it('never has more rows at work than the scorer allows', async () => {
    let running = 0
    let most = 0
    const { score } = queuedScorer(
      scorer(async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise(setImmediate)
        running -= 1
        return { value: 1 }
      }),
    )
    await Promise.all(Array.from({ length: 20 }, () => score(ROW, context())))
    assert.equal(most, 2)
  })

  it('gives up a row at the deadline, and aborts its work', async () => {
    let signal: AbortSignal | undefined
    const hanging: ScoreRow = (_, given) => {
      signal = given.signal
      return new Promise(() => undefined)
    }
    const { score } = queuedScorer(scorer(hanging), 10)
    assert.deepEqual(await score(ROW, context()), {
      failed: 'the scorer did not answer within 0.01 seconds',
    })
    assert.equal(signal?.aborted, true)
  })

  it('does not ask the scorer once the run is aborted', async () => {
    let asked = 0
    const { score } = queuedScorer(
      scorer(() => {
        asked += 1
        return Promise.resolve({ value: 1 })
      }),
    )
    await score(ROW, context(AbortSignal.abort('stopped')))
    assert.equal(asked, 0)
  })
})
