import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { openClickHouseServer } from '../../../src/adapters/clickhouse/server.js'
import type { ClickHouseWriter } from '../../../src/kernel/ports/clickhouse.js'
import { projections } from '../../../src/projections/all.js'
import { migrate } from '../../../src/projections/migrate.js'
import { startProjector } from '../../../src/projections/runtime/projector.js'
import { COUNTS } from '../../counts.js'
import { startClickHouseFront, type ClickHouseFront } from '../../support/clickhouse-http-front.js'
import { arbitraryDatabase, openTestClickHouse } from '../../support/engine.js'
import { startFaultyProxy, type Fault, type FaultyProxy } from '../../support/faulty-proxy.js'
import { startTestService, type TestService } from '../../support/service.js'
import { PROJECT, startTraceLoad, type Model } from '../../support/faults/trace-load.js'
import { until } from '../../support/until.js'

/** How long ClickHouse has the fault, in milliseconds. */
const FAULT_MS = COUNTS.clickHouseOutageMs
const RECOVERED_WITHIN_MS = 120_000

const TOO_MANY =
  'Code: 202. DB::Exception: Too many simultaneous queries. Maximum: 100. (TOO_MANY_SIMULTANEOUS_QUERIES)'

interface Scenario {
  readonly fault: Fault
  /** Whether reads must fail meanwhile. */
  readonly readsFail: boolean
  /** What `/health` must say meanwhile. */
  readonly health?: RegExp
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'is away': { fault: { kind: 'away' }, readsFail: true, health: /cannot be reached \(ECONN/ },
  'gets half of every insert': { fault: { kind: 'cut inserts' }, readsFail: false },
  'stores every insert and cannot say so': { fault: { kind: 'lost answers' }, readsFail: false },
  'answers nothing': { fault: { kind: 'silent' }, readsFail: false },
  'answers late': { fault: { kind: 'late', milliseconds: 700 }, readsFail: false },
  'answers 500, with an error of its own': {
    fault: {
      kind: 'answering',
      status: 500,
      body: TOO_MANY,
      headers: { 'x-clickhouse-exception-code': '202' },
    },
    readsFail: true,
    health: /TOO_MANY_SIMULTANEOUS_QUERIES/,
  },
  'has a proxy before it that answers 502': {
    fault: { kind: 'answering', status: 502, body: '<html><h1>502 Bad Gateway</h1></html>' },
    readsFail: true,
    health: /another server responded: 502 Bad Gateway/,
  },
  'has something else in its place that answers 200': {
    fault: { kind: 'answering', status: 200, body: '<html>Welcome!</html>' },
    readsFail: true,
    health: /another server responded: 200/,
  },
  'gets half of every insert as if it were all': { fault: { kind: 'shortened inserts' }, readsFail: false },
  'breaks off its answers': { fault: { kind: 'cut answers' }, readsFail: true },
}

describe('the service while its ClickHouse server', function () {
  this.timeout(4 * FAULT_MS + 1_800_000)
  let front: ClickHouseFront
  let proxy: FaultyProxy
  let service: TestService

  beforeEach(async () => {
    front = await startClickHouseFront()
    proxy = await startFaultyProxy(front.url)
    service = await startTestService({}, () =>
      openClickHouseServer(`${proxy.url}/${arbitraryDatabase()}`, { compression: true }),
    )
  })
  afterEach(async () => {
    await service.stop()
    await proxy.stop()
    await front.stop()
  })

  /** Of these traces, or of all there are. */
  const usageOf = (traces: readonly string[] | null, headers: Record<string, string> = {}) => {
    const filter = { trace_roots_only: true, ...(traces === null ? {} : { call_ids: [...traces] }) }
    return service.in(PROJECT).with({ headers }).usage.ofTraces({ filter })
  }

  const tokensOf = (text: string): Model => {
    const { call_usage } = JSON.parse(text) as {
      call_usage: Record<string, { m: { prompt_tokens: number } }>
    }
    return new Map(Object.entries(call_usage).map(([id, { m }]) => [id, m.prompt_tokens]))
  }

  /** Waits until everything that was acknowledged can be read. */
  const untilReadable = async (traces: readonly string[] | null): Promise<Model> => {
    const deadline = performance.now() + RECOVERED_WITHIN_MS
    for (;;) {
      const { status, headers, text } = await usageOf(traces)
      if (status === 200) return tokensOf(text)
      assert.deepEqual([status, headers.get('retry-after')], [503, '1'], text)
      assert.ok(performance.now() < deadline, `reads do not recover: ${text}`)
      await sleep(200)
    }
  }

  /** The rows of all calls; where batches ended, which differs, leaves no trace in them. */
  const rowsOf = (clickHouse: ClickHouseWriter) =>
    clickHouse.query(
      "SELECT count() AS rows, toString(groupBitXor(cityHash64(formatRow('TSV', *)))) AS digest FROM calls FINAL",
    )

  const freshProjection = async () => {
    const clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    const { eventStore, blobs } = service.stores
    const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const projector = await startProjector({
      eventStore,
      blobs,
      clickHouse: clickHouse.writer,
      projections,
      log: silent,
    })
    assert.ok(await projector.waitFor(await eventStore.head(), RECOVERED_WITHIN_MS))
    const rows = await rowsOf(clickHouse.writer)
    await projector.stop()
    await clickHouse.close()
    return rows
  }

  for (const [name, { fault, readsFail, health }] of Object.entries(SCENARIOS).slice(0, COUNTS.outageKinds))
    it(`${name}: takes every write, and is right again afterwards`, async () => {
      const load = startTraceLoad(service)
      await until(() => load.acknowledged.size >= 10)
      const early = [...load.acknowledged.keys()]
      const expected = await untilReadable(early)

      await proxy.have(fault)
      const before = load.acknowledged.size
      const faultEnds = performance.now() + FAULT_MS
      const answers: Awaited<ReturnType<typeof usageOf>>[] = []
      const healths: string[] = []
      const asking = (async () => {
        while (performance.now() < faultEnds) {
          answers.push(await usageOf(early, { 'tallytree-stale': 'allow' }))
          const { status, text } = await service.send('GET', '/health', undefined, { key: null })
          assert.equal(status, 200)
          healths.push(text)
          await sleep(20)
        }
      })()
      await sleep(FAULT_MS)
      // Writes go on whatever becomes of reads; a test that nothing acknowledges ends by its own time-out.
      await until(() => load.acknowledged.size - before >= 30)
      await proxy.have({ kind: 'none' })
      await asking
      await sleep(300)
      await load.stop()

      for (const { status, headers, text } of answers)
        if (status === 200) assert.deepEqual(tokensOf(text), expected)
        else assert.deepEqual([status, headers.get('retry-after')], [503, '1'], text)
      if (readsFail) assert.ok(answers.some(({ status }) => status === 503))
      if (health !== undefined)
        assert.ok(
          healths.some((text) => health.test(text)),
          healths.at(-1),
        )

      assert.deepEqual(await untilReadable(null), load.acknowledged)
      assert.deepEqual(await rowsOf(service.stores.clickHouse.writer), await freshProjection())
      const { text } = await service.send('GET', '/health', undefined, { key: null })
      assert.deepEqual(JSON.parse(text), { status: 'ok' })
    })
})
