import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { systemIds } from '../../../src/adapters/system/system.js'
import { followLedger, type LedgerFollower } from '../../../src/gateway/limits/ledger-follower.js'
import { endAbandonedCalls } from '../../../src/gateway/limits/abandoned-calls.js'
import { toAttributes, type GatewayCall } from '../../../src/domain/gateway/limits/gateway-call.js'
import { keysOf } from '../../../src/domain/gateway/limits/ledger.js'
import { callDecider } from '../../../src/domain/calls/call.js'
import type { Instant } from '../../../src/kernel/codec/instant.js'
import { execute } from '../../../src/kernel/execute.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { aCall, ONE } from '../../unit/domain/gateway/limits/given.js'
import { until } from '../../support/until.js'

const NOW = new Date('2026-11-21T11:00:00Z')
const CAUSE = { correlationId: 'c', causationId: 'c', actor: 'user' } as const

const write = async (eventStore: EventStore, call: GatewayCall, part: object = { part: 'inference' }) => {
  const { project: project_id, id, admittedAt: started_at, stream } = call
  const none = { display_name: null, trace_id: null, parent_id: null, thread_id: null, turn_id: null }
  await execute({ eventStore, ids: systemIds })(
    callDecider,
    stream,
    [
      {
        type: 'StartCall',
        source: null,
        parentTrace: null,
        userId: 'user',
        start: {
          project_id,
          id,
          started_at,
          op_name: 'op',
          inputs: {},
          otel_dump: null,
          ...none,
          wb_run_id: null,
          wb_run_step: null,
          spilled: {},
          attributes: { tallytree: toAttributes(call) },
        },
      },
    ],
    { ...CAUSE, ...part },
  )
}

describe('the ledger of a process', () => {
  let eventStore: EventStore
  let kept: string | undefined
  let logged: string[]
  let live: LedgerFollower

  const open = async (of: EventStore = eventStore): Promise<LedgerFollower> => {
    live = await followLedger({
      eventStore: of,
      ids: systemIds,
      clock: { now: () => NOW },
      snapshots: { read: () => Promise.resolve(kept), write: (text) => Promise.resolve(void (kept = text)) },
      log: {
        info: (event) => void logged.push(event),
        warn: (event) => void logged.push(event),
        error: (event) => void logged.push(event),
      },
      onCall: () => undefined,
    })
    await live.ready(5000)
    assert.ok(live.isReady())
    return live
  }
  const reserved = ({ ledger }: LedgerFollower, call: GatewayCall) =>
    ledger.sums(keysOf(call)[0]!).reserved / ONE
  const recover = (isAlone: boolean, now = NOW, latest = now) =>
    endAbandonedCalls({
      ports: {
        eventStore,
        ids: systemIds,
        clock: { now: () => now },
        log: { info: () => undefined, warn: () => undefined },
      },
      follower: live,
      isAlone,
      instance: 'this',
      monotonicNow: () => latest.getTime(),
    })
  const endsOf = async ({ stream }: GatewayCall): Promise<readonly JsonObject[]> => {
    const ends: JsonObject[] = []
    for await (const { type, data } of eventStore.readStream(stream))
      if (type !== 'CallStarted') ends.push(data)
    return ends
  }

  beforeEach(() => {
    eventStore = openInMemoryEventStore()
    kept = undefined
    logged = []
  })
  afterEach(() => live.stop())

  it('goes on from what it put down when it stopped, and from the beginning where that is spoilt or lost', async () => {
    const [first, second] = [aCall('a'), aCall('b')]
    await write(eventStore, first)
    await (await open()).stop()
    await write(eventStore, second)
    const whole = kept
    for (const [snapshot, warnings] of [
      [whole, []],
      [undefined, []],
      [whole?.slice(0, -9), ['ledger.snapshot_rejected']],
      ['{}', ['ledger.snapshot_rejected']],
    ] as const) {
      kept = snapshot
      logged = []
      assert.equal(reserved(await open(), first), 20n)
      assert.deepEqual(logged, warnings)
      await live.stop()
    }
  })

  it('takes no snapshot of another log for one of its own', async () => {
    await write(eventStore, aCall('a'))
    await (await open()).stop()
    const other = openInMemoryEventStore()
    await write(other, aCall('b'))
    assert.equal(reserved(await open(other), aCall('b')), 10n)
    assert.deepEqual(logged, ['ledger.snapshot_rejected'])
  })

  it('counts no call that a client wrote as if it were a completion', async () => {
    await write(eventStore, aCall('a'), {})
    assert.equal(reserved(await open(), aCall('a')), 0n)
  })

  it('ends what earlier processes left open, once, as an outcome that nobody knows', async () => {
    const [earlier, own] = [
      aCall('a', { instance: 'earlier' }),
      aCall('b', { deadlineAt: '2026-11-21T11:20:00.000000Z' as Instant }),
    ]
    await write(eventStore, earlier)
    await write(eventStore, own)
    await open()
    assert.deepEqual(await Promise.all([recover(true), recover(true)]), [1, 1])
    const ends = await endsOf(earlier)
    assert.equal(ends.length, 1)
    const { exception, summary, usage, output } = ends[0]!
    assert.deepEqual(
      [exception, summary, usage, output],
      [
        'outcome unknown',
        { tallytree: { metering: 'unknown' } },
        { models: [], status_total: null, response_id: null },
        null,
      ],
    )
    assert.deepEqual(await endsOf(own), [])
    const sums = () => live.ledger.sums(keysOf(own)[0]!)
    await until(() => sums().unknown !== 0n)
    assert.deepEqual(sums(), { spent: 0n, reserved: 10n * ONE, unknown: 10n * ONE })
    assert.equal(await recover(true), 0)
  })

  it('takes none for lost that it is at work on itself, wherever its clock jumps', async () => {
    const [own, lost] = [aCall('a'), aCall('b')]
    await open()
    live.ledger.reserve(own)
    for (const call of [own, lost]) await write(eventStore, call)
    await until(() => live.ledger.abandoned().length === 1)
    for (const day of ['2026-11-23', '2020-01-01', '2099-12-31']) await recover(true, new Date(day))
    assert.deepEqual([(await endsOf(own)).length, (await endsOf(lost)).length], [0, 1])
  })

  it('takes none of others for lost because its clock was set', async () => {
    const call = aCall('a', { instance: 'other', deadlineAt: '2026-11-21T11:00:00.000000Z' as Instant })
    await write(eventStore, call)
    await open()
    const [tomorrow, yesterday] = [new Date('2026-11-22T11:00:00Z'), new Date('2026-11-20T11:00:00Z')]
    assert.equal(await recover(false, tomorrow, NOW), 0)
    assert.equal(await recover(false, yesterday, tomorrow), 0)
    assert.equal(await recover(false, tomorrow, tomorrow), 1)
  })

  it('leaves what other live processes are at until its deadline has passed', async () => {
    const [over, going] = [
      aCall('a', { instance: 'other', deadlineAt: '2026-11-21T10:58:00.000000Z' as Instant }),
      aCall('b', { instance: 'other', deadlineAt: '2026-11-21T10:59:30.000000Z' as Instant }),
    ]
    for (const call of [over, going]) await write(eventStore, call)
    await open()
    assert.equal(await recover(false), 1)
    assert.deepEqual([(await endsOf(over)).length, (await endsOf(going)).length], [1, 0])
  })
})
