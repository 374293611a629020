import assert from 'node:assert/strict'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import type { AttemptEnd } from '../../../../src/dispatch/webhooks/attempt.js'
import { openSender } from '../../../../src/dispatch/webhooks/sending.js'
import { instantAt } from '../../../../src/domain/webhooks/deliveries/times.js'
import { until } from '../../../support/until.js'
import { aKnownWebhook, answered, aWaitingDelivery } from './waiting-deliveries.js'

const NOW = Date.parse('2026-01-01T00:00:00Z')

describe('attempts that are likely to hang', () => {
  /** A message for each of so many webhooks of a team; those answer as often as is said, and then hang until they are cut off. */
  const sending = (
    teams: Readonly<Record<string, { readonly webhooks: number; readonly hang: boolean }>>,
    answers = 0,
  ) => {
    const state = openSqliteDispatcherState(':memory:')
    const webhooks = Object.entries(teams).flatMap(([team, { webhooks, hang }]) =>
      Array.from({ length: webhooks }, (_, n) =>
        aKnownWebhook({ id: `${team}-${n}`, team, hangs: hang, url: `http://127.1.0.${n}/` }),
      ),
    )
    const known = new Map(webhooks.map((webhook) => [webhook.id, webhook]))
    const put = (id: string, count: number) =>
      state.putDelivery({
        id: `d-${id}-${count}`,
        delivery: aWaitingDelivery(id, instantAt(NOW)),
        revision: 0n,
        order: BigInt(count),
      })
    for (const { id } of webhooks) put(id, 0)
    let left = answers
    /** The teams of the attempts that were begun without a pause in between. */
    const together: string[][] = []
    let isBeginning = false
    const sender = openSender({
      state,
      directory: { get: (id) => known.get(id) },
      clock: { now: () => new Date(NOW) },
      attempt: async ({ id }, { team }, signal) => {
        if (!isBeginning) together.push([])
        together.at(-1)!.push(team)
        isBeginning = true
        queueMicrotask(() => (isBeginning = false))
        if (left > 0) {
          left -= 1
          state.removeDelivery(id)
          return answered(true)
        }
        return new Promise<AttemptEnd>((resolve) =>
          signal.addEventListener('abort', () => resolve({ kind: 'unknown' })),
        )
      },
      onStateFailed: (error) => {
        throw error
      },
      cancelAll: () => undefined,
      onAnswered: () => undefined,
    })
    const again = () => {
      for (const { id } of webhooks) {
        put(id, 1)
        sender.wake(id)
      }
    }
    return { sender, together, again, begun: () => together.flat().length }
  }

  it('begin one at a time, and keep nobody else from beginning', async () => {
    const { sender, together, begun } = sending({
      slow: { webhooks: 20, hang: true },
      quick: { webhooks: 10, hang: false },
    })
    sender.start()
    await until(() => begun() === 30)
    const [first, ...others] = together
    assert.deepEqual(first?.toSorted(), [...Array<string>(10).fill('quick'), 'slow'])
    assert.deepEqual(others, Array(19).fill(['slow']))
    await sender.stop(0)
  })

  it('are those of a team at webhooks that nobody knows, once there are sixteen', async () => {
    const { sender, together, begun } = sending({
      many: { webhooks: 30, hang: false },
      few: { webhooks: 5, hang: false },
    })
    sender.start()
    await until(() => begun() === 35)
    const [first, ...others] = together
    assert.deepEqual(first?.toSorted(), [...Array<string>(5).fill('few'), ...Array<string>(17).fill('many')])
    assert.deepEqual(others, Array(13).fill(['many']))
    await sender.stop(0)
  })

  it('are none at webhooks that have answered, however many', async () => {
    const { sender, together, again, begun } = sending({ many: { webhooks: 30, hang: false } }, 30)
    sender.start()
    await until(() => begun() === 30 && sender.inFlight() === 0)
    again()
    await until(() => begun() === 60)
    assert.equal(together.at(-1)?.length, 30)
    await sender.stop(0)
  })
})
