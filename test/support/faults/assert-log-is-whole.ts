import assert from 'node:assert/strict'
import { callStream } from '../../../src/domain/calls/call.js'
import type { EventStore, Position } from '../../../src/kernel/ports/event-store.js'
import type { Ledger } from './ledger.js'

/**
 * Positions rise, the revisions of each stream count up from 0 without a gap, and each call that was sent has its one
 * start and, if it was ended, its one end. Closes the store.
 */
export const assertLogIsWhole = async (
  eventStore: EventStore,
  ledgers: ReadonlyMap<string, Ledger>,
): Promise<void> => {
  try {
    const types = new Map<string, string[]>()
    let last: Position = 0n
    for await (const { stream, revision, position, type } of eventStore.readAll()) {
      assert.ok(position > last)
      last = position
      const before = types.get(stream) ?? []
      assert.equal(revision, BigInt(before.length), `a gap in the revisions of ${stream}`)
      types.set(stream, [...before, type])
    }
    for (const [projectId, ledger] of ledgers)
      for (const { start, end } of ledger.values())
        assert.deepEqual(
          types.get(callStream(projectId, start.id)),
          end === null ? ['CallStarted'] : ['CallStarted', 'CallEnded'],
        )
  } finally {
    await eventStore.close()
  }
}
