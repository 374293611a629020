import assert from 'node:assert/strict'
import { once } from 'node:events'
import { watch } from '../../../../src/adapters/clickhouse/liveness.js'

/** Answers that a question gets, one after the other; the last one for ever. */
const answering = (...answers: readonly (string | undefined)[]) => {
  let asked = 0
  const waiting: (() => void)[] = []
  return {
    ask: () => {
      const answer = answers[Math.min(asked, answers.length - 1)]
      asked += 1
      waiting.shift()?.()
      return Promise.resolve(answer)
    },
    /** Resolves when it is asked again. */
    asked: () => new Promise<void>((resolve) => waiting.push(resolve)),
  }
}

const QUICK = { everyMs: 5, againMs: 5 }

describe('the watch over a server', () => {
  it('takes one answer that does not come for nothing', async () => {
    const server = answering(undefined, 'silence', undefined)
    const liveness = watch(server.ask, QUICK)
    const { aborted } = liveness.signal()
    for (let i = 0; i < 6; i += 1) {
      await server.asked()
      assert.equal(liveness.away(), undefined)
    }
    assert.equal(aborted, false)
    await liveness.stop()
  })

  it('ends what is in flight when nobody answers, and lets in what comes after', async () => {
    const server = answering('silence', 'silence', undefined)
    const liveness = watch(server.ask, QUICK)
    const inFlight = liveness.signal()
    await once(inFlight, 'abort')
    assert.equal(liveness.away(), 'silence')
    assert.equal(liveness.signal().aborted, false)
    while (liveness.away() !== undefined) await server.asked()
    await liveness.stop()
  })

  it('ends with its question answered', async () => {
    let answer: () => void = () => undefined
    const liveness = watch(() => new Promise((resolve) => (answer = () => resolve('silence'))), QUICK)
    await new Promise((resolve) => setTimeout(resolve, 30))
    const stopped = liveness.stop()
    answer()
    await stopped
    assert.equal(liveness.away(), undefined)
  })
})
