import assert from 'node:assert/strict'
import { notifier } from '../../../../src/projections/runtime/notifier.js'
import { watchTables } from '../../../../src/projections/runtime/table-watch.js'

describe('watching the tables', () => {
  it('looks again when it is notified during a look', async () => {
    const looking = notifier()
    const lost: string[] = []
    let looks = 0
    const refilled = new Promise<readonly string[]>((resolve) => {
      const { stop } = watchTables({
        losses: async () => {
          looks += 1
          const found = [...lost]
          if (looks > 1) return found
          await Promise.resolve()
          lost.push('the table calls is gone')
          looking.notify()
          return found
        },
        refill: async (losses) => {
          lost.length = 0
          resolve(losses)
          void stop()
        },
        looking,
        log: { error: () => undefined, warn: () => undefined },
      })
    })
    assert.deepEqual(await refilled, ['the table calls is gone'])
  })
})
