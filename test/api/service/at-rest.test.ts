import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { openTestClickHouse } from '../../support/engine.js'
import { startTestService } from '../../support/service.js'

/** Passes all calls on, and notes the name of each. */
const counting = <Port extends object>(port: Port, names: string[]): Port =>
  new Proxy(port, {
    get: (target, name, receiver) => {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        names.push(String(name))
        return Reflect.apply(value, target, args)
      }
    },
  })

describe('an idle service', () => {
  it('asks the engine nothing, and neither reads nor writes the log', async function () {
    this.timeout(60_000)
    const asked: string[] = []
    const service = await startTestService(
      {},
      async () => {
        const clickHouse = await openTestClickHouse()
        const { reader, writer } = clickHouse
        return { ...clickHouse, reader: counting(reader, asked), writer: counting(writer, asked) }
      },
      undefined,
      (eventStore) => counting(eventStore, asked),
    )
    try {
      await setTimeout(3000)
      asked.length = 0
      await setTimeout(10_000)
      assert.equal(asked.join(), '')
      const { status } = await service.post('/api/teams', { name: 'awake' })
      assert.equal(status, 200)
      await setTimeout(1000)
      assert.deepEqual(
        ['append', 'insert', 'query'].filter((name) => !asked.includes(name)),
        [],
      )
    } finally {
      await service.stop()
    }
  })
})
