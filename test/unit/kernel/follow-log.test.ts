import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { newEvent } from '../../../src/kernel/event.js'
import type { EventStore, Position } from '../../../src/kernel/ports/event-store.js'
import { followLog, isInLog, type LogFollower } from '../../../src/kernel/follow-log.js'
import { afterEvents } from '../../support/append-next.js'
import { until } from '../../support/until.js'

const cause = { correlationId: 'c', causationId: 'c', actor: 'test' }
const anEvent = (n: number) => newEvent(randomUUID(), { type: 'Counted', data: { n } }, cause)

describe('a follower of the log', () => {
  const stopping: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stopping.splice(0)) await stop()
  })

  const given = (optionsOf: (seen: unknown[]) => Partial<Parameters<typeof followLog>[0]> = () => ({})) => {
    const store = openInMemoryEventStore()
    let appended = 0
    const append = async (...numbers: readonly number[]) => {
      const { position } = await store.append('s', afterEvents(appended), numbers.map(anEvent))
      appended += numbers.length
      return position!
    }
    const seen: unknown[] = []
    const errors: unknown[] = []
    const abort = new AbortController()
    const follow = (eventStore: Pick<EventStore, 'subscribeAll'> = store): LogFollower => {
      const follower = followLog({
        eventStore,
        after: 0n,
        onEvent: ({ data }) => void seen.push(data['n']),
        onError: (error) => void errors.push(error),
        signal: abort.signal,
        ...optionsOf(seen),
      })
      stopping.push(async () => {
        abort.abort()
        await follower.stopped
      })
      return follower
    }
    return { store, append, seen, errors, abort, follow }
  }

  it('handles what is in the log and what comes, in order', async () => {
    const { append, seen, follow } = given()
    await append(1, 2)
    const follower = follow()
    const last = await append(3)
    assert.equal(await follower.waitFor(last, 5000), true)
    assert.deepEqual([seen, follower.position()], [[1, 2, 3], last])
  })

  it('stops waiting for a position that does not come in time, and when it is stopped', async () => {
    const { follow, abort } = given()
    const follower = follow()
    assert.equal(await follower.waitFor(5n, 10), false)
    const waiting = follower.waitFor(5n, 60_000)
    abort.abort()
    assert.equal(await waiting, false)
  })

  it('continues after the last handled event when the subscription fails or ends', async () => {
    const { store, append, seen, errors, follow } = given()
    const first = await append(1)
    const second = await append(2)
    const last = await append(3)
    const starts: (Position | undefined)[] = []
    const follower = follow({
      async *subscribeAll(options) {
        starts.push(options?.after)
        for await (const item of store.subscribeAll(options)) {
          yield item
          if (starts.length === 1) throw new Error('broken')
          if (starts.length === 2) return
        }
      },
    })
    assert.equal(await follower.waitFor(last, 5000), true)
    assert.deepEqual(
      [seen, starts],
      [
        [1, 2, 3],
        [0n, first, second],
      ],
    )
    assert.deepEqual(
      errors.map((error) => (error as Error).message),
      ['broken'],
    )
  })

  it('tries an event again when handling it failed', async () => {
    let tries = 0
    const { append, errors, follow } = given(() => ({
      onEvent: () => {
        tries += 1
        if (tries === 1) throw new Error('no')
      },
    }))
    const follower = follow()
    assert.equal(await follower.waitFor(await append(1), 5000), true)
    assert.deepEqual([tries, errors.length], [2, 1])
  })

  it('continues where it is told to after a restart', async () => {
    const { append, seen, errors, follow } = given(() => ({ onRestart: () => 0n }))
    const last = await append(1, 2)
    const follower = follow()
    await follower.waitFor(last, 5000)
    follower.restart(new Error('state lost'))
    await until(() => seen.length >= 4)
    assert.deepEqual([seen, errors.length], [[1, 2, 1, 2], 1])
  })

  it('handles only events of the wanted types, and advances past others', async () => {
    const { append, seen, follow } = given(() => ({ types: new Set(['Other']) }))
    const last = await append(1, 2)
    const follower = follow()
    assert.equal(await follower.waitFor(last, 5000), true)
    assert.equal(await follower.waitFor(await append(3), 5000), true)
    assert.deepEqual(seen, [])
  })

  it('reports the end of the log once it is reached', async () => {
    const { append, seen, follow } = given((told) => ({ onCaughtUp: () => void told.push('caught up') }))
    await append(1)
    const follower = follow()
    await until(() => seen.length >= 2)
    await follower.waitFor(await append(2), 5000)
    assert.deepEqual(seen, [1, 'caught up', 2])
  })
})

describe('the anchor of a log', () => {
  it('is in its own log only, and at its position only', async () => {
    const [own, other] = [openInMemoryEventStore(), openInMemoryEventStore()]
    const event = anEvent(1)
    const { position } = await own.append('s', 'none', [event])
    await other.append('s', 'none', [anEvent(1)])
    const anchor = { id: event.id, stream: 's', revision: 0n, position: position! }
    assert.equal(await isInLog(own, anchor), true)
    assert.equal(await isInLog(own, { ...anchor, position: position! + 1n }), false)
    assert.equal(await isInLog(other, anchor), false)
    assert.equal(await isInLog(openInMemoryEventStore(), anchor), false)
  })
})
