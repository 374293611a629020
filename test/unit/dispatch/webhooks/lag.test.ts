import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { watchingLag } from '../../../../src/dispatch/webhooks/lag.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { until } from '../../../support/until.js'
import { arbitraryEvents } from '../../../contract/event-store/arbitrary-events.js'

const QUARTER_MINUTE = 15_000

describe('how far matching is behind the log', () => {
  const given = async (events: number) => {
    const eventStore = openInMemoryEventStore()
    await eventStore.append('call-team/p/c', 'none', arbitraryEvents(events))
    const positions: bigint[] = []
    for await (const { position } of eventStore.readAll()) positions.push(position)
    return { eventStore, positions }
  }

  it('is counted where positions leave gaps, up to a number that costs little', async () => {
    const { eventStore, positions } = await given(700)
    let read = 0
    const told: number[] = []
    const watching = (eventStore: Pick<EventStore, 'head' | 'readAll'>) =>
      watchingLag({
        eventStore,
        isAlone: false,
        position: () => positions[read - 1] ?? 0n,
        tell: (events) => told.push(events),
      })
    const lag = watching(eventStore)
    for (const [turn, after] of [0, 300, 699, 700].entries()) {
      read = after
      lag(turn * QUARTER_MINUTE)
      lag(turn * QUARTER_MINUTE + 1)
      await until(() => told.length === turn + 1)
    }
    assert.deepEqual(told, [500, 400, 1, 0])
  })

  it('is not told while the log fails, and told again afterwards', async () => {
    const { eventStore } = await given(2)
    let fails = true
    const told: number[] = []
    let asked = 0
    const head = async () => {
      asked += 1
      if (fails) throw new Error('the log is away')
      return 7n
    }
    const lag = watchingLag({
      eventStore: { ...eventStore, head },
      isAlone: true,
      position: () => 3n,
      tell: (events) => told.push(events),
    })
    lag(0)
    await until(() => asked === 1)
    fails = false
    let now = 0
    await until(() => {
      lag((now += QUARTER_MINUTE))
      return told.length > 0
    })
    assert.equal(told[0], 4)
  })
})
