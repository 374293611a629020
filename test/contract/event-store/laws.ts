import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Expected } from '../../../src/kernel/ports/event-store.js'
import { ConcurrencyConflict } from '../../../src/kernel/ports/event-store-errors.js'
import { arbitraryEvents, arbitraryStream } from './arbitrary-events.js'
import { collect, idsOf } from './collect.js'
import type { Opened } from './store-under-test.js'

const expectations = fc.oneof(fc.constant<Expected>('none'), fc.bigInt({ min: 0n, max: 6n }))

const appends = fc.array(
  fc.record({ stream: fc.nat(2), expected: expectations, events: fc.integer({ min: 1, max: 3 }) }),
  { minLength: 1, maxLength: 25 },
)

const holds = (expected: Expected, length: number) =>
  (expected === 'none' && length === 0) || expected === BigInt(length - 1)

export const laws = (opened: Opened): void => {
  it('whatever is appended, at once or one by one, exactly the true expectations win', async () => {
    await fc.assert(
      fc.asyncProperty(appends, fc.boolean(), async (attempts, atOnce) => {
        const { store } = opened()
        const start = await store.head()
        const streams = [0, 1, 2].map(arbitraryStream)
        const model = new Map(streams.map((stream) => [stream, [] as string[]]))
        const log: string[] = []
        const running: Promise<void>[] = []

        for (const attempt of attempts) {
          const stream = streams[attempt.stream] ?? ''
          const stored = model.get(stream) ?? []
          const events = arbitraryEvents(attempt.events)
          const length = stored.length
          const wins = holds(attempt.expected, length)
          if (wins) stored.push(...idsOf(events))
          if (wins) log.push(...idsOf(events))
          const appended = store.append(stream, attempt.expected, events)
          running.push(
            wins
              ? appended.then(({ revision }) => assert.equal(revision, BigInt(length + events.length - 1)))
              : assert.rejects(
                  appended,
                  (error) =>
                    error instanceof ConcurrencyConflict &&
                    error.actual === (length === 0 ? 'none' : BigInt(length - 1)),
                ),
          )
          if (!atOnce) await running.at(-1)
        }
        await Promise.all(running)

        const recorded = idsOf(await collect(store.readAll({ after: start })))
        // Appends to different streams that are under way at once may be recorded in any order.
        assert.deepEqual(atOnce ? recorded.toSorted() : recorded, atOnce ? log.toSorted() : log)
        for (const [stream, ids] of model) {
          assert.deepEqual(idsOf(await collect(store.readStream(stream))), ids)
          assert.deepEqual(
            recorded.filter((id) => ids.includes(id)),
            ids,
          )
        }
      }),
      { numRuns: 60 },
    )
  })
}
