import assert from 'node:assert/strict'
import fc from 'fast-check'
import { versionHistory } from '../../../../../../src/domain/webhooks/automations/matching/version-history.js'
import { versionAfter } from '../../../../../../src/domain/webhooks/automations/state.js'
import type { EventStore, RecordedEvent } from '../../../../../../src/kernel/ports/event-store.js'
import { contentOf, recorded } from './given.js'

const own = { id: 'a', team: 'team' }
const content = contentOf({ type: 'CALL_FAILED' })

const change = fc.oneof(
  fc.constantFrom(['AutomationEnabled', {}] as const, ['AutomationDisabled', {}] as const),
  fc.constant(['Unheard', {}] as const),
  fc
    .record({ name: fc.string({ minLength: 1, maxLength: 3 }), resets: fc.boolean() })
    .map((changed) => ['AutomationChanged', { ...content, ...changed }] as const),
)

const history = (changes: readonly (readonly [type: string, data: object])[]): readonly RecordedEvent[] =>
  [['AutomationCreated', { ...content, enabled: true }] as const, ...changes].map(([type, data], place) =>
    recorded(
      'automation-a',
      type,
      { ...own, ...data },
      { position: BigInt(place + 1) * 10n, revision: BigInt(place) },
    ),
  )

const storeOf = (events: readonly RecordedEvent[]): Pick<EventStore, 'readStream'> => ({
  async *readStream(_, { from = 0n, limit = Infinity } = {}) {
    await Promise.resolve()
    yield* events.slice(Number(from)).slice(0, limit)
  },
})

describe('the versions of an automation, read along with positions', () => {
  it('are those that its events before each position make, in whatever order they are asked for', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 300 }),
        fc.array(fc.bigInt(0n, 3100n), { maxLength: 30 }),
        async (changes, positions) => {
          const events = history(changes)
          const versions = versionHistory(storeOf(events), 'a')
          for (const position of positions) {
            let folded: ReturnType<typeof versionAfter>
            for (const event of events) if (event.position < position) folded = versionAfter(folded, event)
            assert.deepEqual(await versions.at(position), folded)
          }
        },
      ),
    ))

  it('are read about once where positions grow', async () => {
    const events = history(Array.from({ length: 5000 }, () => ['AutomationDisabled', {}] as const))
    const versions = versionHistory(storeOf(events), 'a')
    for (let position = 0n; position < 51_000n; position += 1000n) await versions.at(position)
    assert.equal((await versions.newest())?.since, events.at(-1)?.position)
    assert.ok(versions.read() < 2 * events.length, String(versions.read()))
  })
})
