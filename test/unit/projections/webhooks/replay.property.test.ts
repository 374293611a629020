import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import type { DeliveryState } from '../../../../src/domain/webhooks/deliveries/state.js'
import { deliveriesProjection } from '../../../../src/projections/webhooks/project.js'
import { countDeliveries, deliveriesOf } from '../../../../src/projections/webhooks/queries.js'
import { migrate } from '../../../../src/projections/migrate.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { arbitraryLife } from './lives.js'

const IDS = ['dlv_a', 'dlv_b', 'dlv_c']
const STATES = ['pending', 'in_flight', 'retrying', 'succeeded', 'dead', 'canceled'] as const

const arbitraryLives = fc.tuple(...IDS.map((id) => arbitraryLife(id)))

describe('replaying deliveries', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const insert = async (events: readonly ProjectedEvent[]): Promise<void> => {
    for (const rows of deliveriesProjection.rowsOf(events)) await clickHouse.writer.insert(rows)
  }

  it('in other batches and again from anywhere says of every delivery what its own events say, at every position', () =>
    fc.assert(
      fc.asyncProperty(arbitraryLives, fc.nat(20), fc.nat(20), async (lives, cut, again) => {
        const team = randomUUID()
        const log: ProjectedEvent[] = []
        const behind: Record<string, DeliveryState>[] = [{}]
        // The first event of each, the second of each, and so on.
        for (let turn = 0; turn < Math.max(...lives.map(({ events }) => events.length)); turn += 1)
          for (const [which, { events, states }] of lives.entries()) {
            const [event, state] = [events[turn], states[turn]]
            if (event === undefined || state === undefined) continue
            const { type, data } = event
            log.push({ type, data: { ...data, team }, position: BigInt(log.length + 1) })
            behind.push({ ...behind.at(-1), [IDS[which]!]: state })
          }
        await insert(log.slice(0, cut))
        await insert(log.slice(cut))
        await insert(log.slice(again))
        for (const [at, expected] of behind.entries()) {
          const question = { team, position: BigInt(at) }
          const found = await deliveriesOf(clickHouse.reader)(question, 100)
          assert.deepEqual(new Map(found.map(shown)), new Map(Object.entries(expected).map(folded)))
          const [state] = STATES.filter((_, index) => index === at % STATES.length)
          const those = Object.entries(expected).filter(([, { phase }]) => phase === state)
          const asked = { ...question, states: [state!] }
          const inState = await deliveriesOf(clickHouse.reader)(asked, 100)
          assert.deepEqual(inState.map(({ id }) => id).sort(), those.map(([id]) => id).sort())
          assert.equal(await countDeliveries(clickHouse.reader)(asked), those.length)
        }
      }),
      { numRuns: COUNTS.deliveryReplays },
    ))

  it('pages of any size are the list, newest first', async () => {
    const team = randomUUID()
    const [life] = fc.sample(arbitraryLife('dlv_0'), 1)
    const log = Array.from({ length: 25 }, (_, at): ProjectedEvent => ({
      type: 'DeliveryScheduled',
      data: { ...life!.events[0]!.data, team, delivery_id: `dlv_${at}` },
      position: BigInt(at + 1),
    }))
    await insert(log)
    const ids: string[] = []
    let before: bigint | undefined
    for (;;) {
      const page = await deliveriesOf(clickHouse.reader)({ team, position: 20n, before }, 7)
      ids.push(...page.map(({ id }) => id))
      if (page.length < 7) break
      before = page.at(-1)!.position
    }
    assert.deepEqual(
      ids,
      Array.from({ length: 20 }, (_, at) => `dlv_${19 - at}`),
    )
  })
})

type Found = Awaited<ReturnType<ReturnType<typeof deliveriesOf>>>[number]

const shown = ({ id, state, attempts, next_at, reason }: Found): readonly [string, unknown] => [
  id,
  {
    state,
    attempts,
    due: state === 'pending' || state === 'retrying' ? next_at : null,
    reason: dead(state, reason),
  },
]

const folded = ([id, state]: readonly [string, DeliveryState]): readonly [string, unknown] => [
  id,
  {
    state: state.phase,
    attempts: 'attempts' in state ? state.attempts : 0,
    due: 'dueAt' in state ? state.dueAt : null,
    reason: 'reason' in state ? dead(state.phase, state.reason) : null,
  },
]

const dead = (state: string, reason: string | null) => (state === 'dead' ? reason : null)
