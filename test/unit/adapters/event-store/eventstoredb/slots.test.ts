import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { slots } from '../../../../../src/adapters/event-store/eventstoredb/slots.js'
import { StoreUnavailable } from '../../../../../src/kernel/ports/event-store-errors.js'

describe('slots for requests', () => {
  it('are given in order, and never more than there are', async () => {
    const { acquire } = slots({ atOnce: 3, mostWaitingBytes: 100_000, waitMs: 1000 })
    const begun: number[] = []
    let [underWay, most] = [0, 0]

    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const release = await acquire()
        begun.push(index)
        most = Math.max(most, (underWay += 1))
        await sleep(index % 3)
        underWay -= 1
        release()
        release()
      }),
    )

    assert.deepEqual(
      begun,
      begun.toSorted((a, b) => a - b),
    )
    assert.deepEqual([begun.length, most], [50, 3])
  })

  it('are refused at once when too many bytes wait, and to those who waited too long', async () => {
    const { acquire } = slots({ atOnce: 1, mostWaitingBytes: 10_000, waitMs: 10 })
    const release = await acquire(50_000)
    const waiting = assert.rejects(acquire(9_000), StoreUnavailable)

    await assert.rejects(acquire(), StoreUnavailable)
    await sleep(30)
    release()

    await waiting
    const again = await acquire()
    const next = acquire(10_000)
    again()
    const last = await next
    last()
  })

  it('are given to the kinds in turn, so that many of one do not hold up others', async () => {
    const { acquire } = slots({ atOnce: 1, mostWaitingBytes: 100_000, waitMs: 1000 })
    const order: string[] = []
    const hold = async (name: string, kind: string) => {
      const release = await acquire(0, kind)
      order.push(name)
      release()
    }
    const first = await acquire()
    const waiting = ['c1', 'c2', 'c3', 'c4', 'd1', 'd2'].map((name) => hold(name, name[0]!))
    first()
    await Promise.all(waiting)
    assert.deepEqual(order, ['c1', 'd1', 'c2', 'd2', 'c3', 'c4'])
  })
})
