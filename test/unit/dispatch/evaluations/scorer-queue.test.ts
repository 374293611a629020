import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadyScorer } from '../../../../src/dispatch/evaluations/prepare-scorer.js'
import { queuedScorer } from '../../../../src/dispatch/evaluations/scorer-queue.js'
import type { ScoreContext, ScoreRow } from '../../../../src/domain/evaluations/scoring.js'

const contextOf = (signal = new AbortController().signal): ScoreContext => ({
  projectId: 'team/project',
  runId: 'run',
  rowId: 'row',
  scoreId: 'score',
  traceId: 'run',
  mayBeRepeat: false,
  userId: 'ada',
  keyId: 'key',
  signal,
})
const ROW = { example: {}, output: null }

const readyScorer = (score: ScoreRow | null, more: Partial<ReadyScorer> = {}): ReadyScorer => ({
  ref: 'weave:///team/project/object/s:1',
  name: 's',
  score,
  reason: 'no gateway',
  isLocal: false,
  maxConcurrency: 4,
  maxPerSecond: null,
  ...more,
})

const never = () => new Promise<never>(() => undefined)

describe('the queue of a scorer', () => {
  it('gives up on a row at its deadline, even if the scorer ignores its signal, and frees the slot', async () => {
    const signals: AbortSignal[] = []
    const { score } = queuedScorer(
      readyScorer(
        async (_, { signal }) => {
          signals.push(signal)
          return signals.length === 1 ? never() : { value: 1 }
        },
        { maxConcurrency: 1 },
      ),
      30,
    )
    const [first, second] = await Promise.all([score(ROW, contextOf()), score(ROW, contextOf())])
    assert.deepEqual(first, { failed: 'the scorer did not answer within 0.03 seconds', isUnavailable: true })
    assert.deepEqual(second, { value: 1 })
    assert.equal(signals[0]!.aborted, true)
  })

  it('ends waiting and running rows when the run is canceled', async () => {
    const cancel = new AbortController()
    const { score } = queuedScorer(readyScorer(never, { maxConcurrency: 1 }))
    const scored = Promise.all([1, 2, 3].map(() => score(ROW, contextOf(cancel.signal))))
    cancel.abort()
    assert.equal((await scored).length, 3)
  })

  it('never has more rows under way than the scorer may have', async () => {
    let [running, most] = [0, 0]
    const { score } = queuedScorer(
      readyScorer(async () => {
        running += 1
        most = Math.max(most, running)
        await sleep(1)
        running -= 1
        return { value: true }
      }),
    )
    await Promise.all(Array.from({ length: 50 }, () => score(ROW, contextOf())))
    assert.equal(most, 4)
  })

  it('takes rates below one and between whole numbers', async () => {
    for (const maxPerSecond of [0.001, 0.5, 1.5, 10_000]) {
      const { score } = queuedScorer(readyScorer(async () => ({ value: 1 }), { maxPerSecond }))
      assert.deepEqual(await score(ROW, contextOf()), { value: 1 })
    }
  })

  it('stops asking a scorer that was unavailable for many rows in a row', async () => {
    let asked = 0
    let isBack = false
    const { score } = queuedScorer(
      readyScorer(async () => {
        asked += 1
        return isBack ? { value: 1 } : { failed: 'refused', isUnavailable: true }
      }),
    )
    for (let row = 0; row < 19; row += 1) await score(ROW, contextOf())
    isBack = true
    assert.deepEqual(await score(ROW, contextOf()), { value: 1 })
    isBack = false
    asked = 0
    for (let row = 0; row < 30; row += 1) await score(ROW, contextOf())
    assert.equal(asked, 20)
    assert.deepEqual(await score(ROW, contextOf()), {
      failed: 'the scorer was not asked: it was unavailable for 20 rows in a row',
    })
  })

  it('keeps asking a scorer that fails because of the rows', async () => {
    let asked = 0
    const { score } = queuedScorer(
      readyScorer(async () => {
        asked += 1
        return { failed: 'the row has no value for {question} of the prompt' }
      }),
    )
    for (let row = 0; row < 30; row += 1) await score(ROW, contextOf())
    assert.equal(asked, 30)
  })

  it('fails each row with the reason of a scorer that cannot run here', async () => {
    const { score } = queuedScorer(readyScorer(null))
    assert.deepEqual(await score(ROW, contextOf()), { failed: 'no gateway' })
  })
})
