import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { callStream } from '../../../src/domain/calls/call.js'
import { startChildDouble, type ChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { until } from '../../support/until.js'

const FROZEN_MS = 15_000
const PROJECT = 'default/batches'
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(12)

const itemsOf = (id: string) => [
  {
    mode: 'start',
    req: {
      start: {
        project_id: PROJECT,
        id,
        trace_id: `trace-${id}`,
        op_name: 'answer',
        started_at: '2026-01-01T00:00:00.123Z',
        attributes: {},
        inputs: { text: TEXT },
      },
    },
  },
  {
    mode: 'end',
    req: { end: { project_id: PROJECT, id, ended_at: '2026-01-01T00:00:01Z', output: TEXT, summary: {} } },
  },
]

describe('the service over an EventStoreDB (a protocol double) that stops under batches', function () {
  this.timeout(600_000)
  let directory: string
  let double: ChildDouble
  let service: RunningService
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-frozen-'))
    double = await startChildDouble(join(directory, 'log'))
    service = await startRunningService({ EVENTSTORE_URL: double.url })
  })
  afterEach(async () => {
    await service.remove()
    await double.kill()
    await rm(directory, { recursive: true })
  })

  /** Clients that each write one batch after the other and repeat what was refused; answers the ids that were acknowledged. */
  const writeBatches = async (clients: number, size: number, isOver: () => boolean) => {
    const acknowledged: string[] = []
    let next = 0
    const send = async (ids: readonly string[]) => {
      for (;;) {
        const { status } = await service.post('/call/upsert_batch', { batch: ids.flatMap(itemsOf) })
        if (status === 200) return
        assert.equal(status, 503)
        await sleep(200)
      }
    }
    const client = async () => {
      while (!isOver()) {
        const ids = Array.from({ length: size / 2 }, () => `call-${(next += 1)}`)
        await send(ids)
        acknowledged.push(...ids)
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
    return acknowledged
  }

  const assertStoredOnce = async (ids: readonly string[]) => {
    const store = await openEventStoreDb(double.url)
    const types = new Map<string, string[]>()
    for await (const { stream, type } of store.readAll())
      types.set(stream, [...(types.get(stream) ?? []), type])
    await store.close()
    for (const id of ids)
      assert.deepEqual(types.get(callStream(PROJECT, id)), ['CallStarted', 'CallEnded'], id)
  }

  const faults: Readonly<Record<string, () => Promise<void>>> = {
    'is frozen for 15 s': async () => {
      double.freeze()
      await sleep(FROZEN_MS)
      double.thaw()
    },
    'is killed': async () => {
      await double.kill()
      await sleep(3000)
      await double.restart()
    },
  }

  for (const [what, fault] of Object.entries(faults))
    for (const [clients, size] of [
      [8, 50],
      [16, 500],
    ] as const)
      it(`lives, and loses and doubles nothing, when it ${what} under ${clients} clients with batches of ${size}`, async () => {
        const { pid } = service
        let over = false
        const writing = writeBatches(clients, size, () => over)
        await sleep(2000)

        await fault()
        over = true
        const acknowledged = await writing
        await until(async () => (await service.send('GET', '/health')).status === 200)

        assert.equal(service.pid, pid)
        assert.ok(acknowledged.length >= clients * (size / 2))
        await assertStoredOnce(acknowledged)
        assert.equal(await service.stop(), 0, service.output())
      })
})
