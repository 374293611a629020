import assert from 'node:assert/strict'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { BlobStore } from '../../../src/kernel/ports/blobs.js'
import type { ClickHouse } from '../../../src/kernel/ports/clickhouse.js'
import type { EventStore, Position } from '../../../src/kernel/ports/event-store.js'
import { projections } from '../../../src/projections/all.js'
import { migrate } from '../../../src/projections/migrate.js'
import type { Projection } from '../../../src/projections/projection.js'
import { startProjector, type Projector } from '../../../src/projections/runtime/projector.js'
import { openTestClickHouse } from '../../support/engine.js'
import { startTestService } from '../../support/service.js'
import { append, POISON, PROJECT, startOf } from './given-log.js'

const WAIT_MS = 120_000

describe('a poisoned event', () => {
  let clickHouse: ClickHouse
  let eventStore: EventStore
  let blobs: BlobStore
  let logged: JsonObject[]
  let projector: Projector | undefined

  beforeEach(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    eventStore = openInMemoryEventStore()
    blobs = openInMemoryBlobStore()
    logged = []
  })

  afterEach(async () => {
    await projector?.stop()
    projector = undefined
    await clickHouse.close()
  })

  const start = async (others: readonly Projection[] = []): Promise<Projector> => {
    await projector?.stop()
    const note = (event: string, fields?: JsonObject) => void logged.push({ event, ...fields })
    projector = await startProjector({
      eventStore,
      blobs,
      clickHouse: clickHouse.writer,
      projections: [...projections, ...others],
      log: { info: note, warn: note, error: note },
    })
    return projector
  }

  const reached = async (): Promise<void> =>
    assert.ok(await projector!.waitFor(await eventStore.head(), WAIT_MS), 'the projector does not go on')

  /** Besides the poisoned ones, of which a projection may have taken its own rows before another's were refused. */
  const readable = async (): Promise<readonly string[]> =>
    (
      await clickHouse.writer.query<{ id: string }>(
        "SELECT id FROM calls FINAL WHERE NOT startsWith(id, 'poison-') ORDER BY id",
      )
    ).map(({ id }) => id)

  const inQuarantine = async (): Promise<readonly bigint[]> =>
    (
      await clickHouse.writer.query<{ position: string }>(
        'SELECT toString(position) AS position FROM quarantine FINAL ORDER BY quarantine.position',
      )
    ).map(({ position }) => BigInt(position))

  const loggedPositions = (): readonly string[] =>
    logged
      .filter(({ event }) => event === 'projection.event_quarantined')
      .map(({ position }) => position as string)

  /** Each poison between two good events. */
  const givenPoison = async (): Promise<readonly Position[]> => {
    const positions: Position[] = []
    let good = 0
    await append(eventStore, 'CallStarted', startOf(`good-${good}`))
    for (const data of Object.values(POISON)) {
      positions.push(await append(eventStore, 'CallStarted', data))
      await append(eventStore, 'CallStarted', startOf(`good-${(good += 1)}`))
    }
    return positions
  }

  const goodIds = Object.keys(['first', ...Object.keys(POISON)]).map((index) => `good-${index}`)

  it('stops neither its neighbours nor later events, whatever is wrong with it', async () => {
    const projector = await start()
    const good: string[] = []
    const poisoned: Position[] = []
    const appendGood = async (id: string) => {
      good.push(id)
      await append(eventStore, 'CallStarted', startOf(id))
    }
    for (const [index, [name, data]] of Object.entries(POISON).entries()) {
      await appendGood(`${index}-1-before`)
      poisoned.push(await append(eventStore, 'CallStarted', data))
      await appendGood(`${index}-2-after`)
      await reached()
      await appendGood(`${index}-3-later`)
      await reached()

      assert.deepEqual(await readable(), good, name)
      assert.deepEqual(await inQuarantine(), poisoned, name)
      assert.deepEqual(loggedPositions(), poisoned.map(String), name)
      assert.equal(projector.quarantined(), poisoned.length, name)
    }
  })

  it('is found among many, whichever and however many there are', async () => {
    const positions = await givenPoison()
    const projector = await start()
    await reached()

    assert.deepEqual(await readable(), goodIds)
    assert.deepEqual(await inQuarantine(), positions)
    assert.deepEqual([...loggedPositions()].map(BigInt).sort(ascending), positions)
    assert.equal(projector.quarantined(), positions.length)
  })

  it('is counted once, whether the projector goes on after it or comes to it again', async () => {
    const positions = await givenPoison()
    await start()
    await reached()

    const goingOn = await start()
    assert.equal(goingOn.quarantined(), positions.length)

    await clickHouse.writer.command('TRUNCATE TABLE checkpoints')
    const comingAgain = await start()
    await reached()

    assert.equal(comingAgain.quarantined(), positions.length)
    assert.deepEqual(await inQuarantine(), positions)
    assert.deepEqual(await readable(), goodIds)
    assert.equal((await start()).quarantined(), positions.length)
  })

  it('of one projection leaves the rows of its neighbours in all of them', async () => {
    await clickHouse.writer.command(
      'CREATE TABLE others (id String, figures Array(Int64)) ENGINE = ReplacingMergeTree ORDER BY id',
    )
    const others: Projection = {
      name: 'others',
      rowsOf: (events) => [
        {
          table: 'others',
          columns: ['id', 'figures'],
          values: events.map(({ data }) => {
            const { id } = data as { readonly id: string }
            return [id, id === 'refused' ? ['no figure'] : [1]]
          }),
        },
      ],
    }
    await append(eventStore, 'CallStarted', startOf('before'))
    const refused = await append(eventStore, 'CallStarted', startOf('refused'))
    await append(eventStore, 'CallStarted', startOf('beside'))
    await start([others])
    await reached()

    const rows = await clickHouse.writer.query<{ id: string }>('SELECT id FROM others FINAL ORDER BY id')
    assert.deepEqual(rows, [{ id: 'before' }, { id: 'beside' }])
    assert.deepEqual(await inQuarantine(), [refused])
  })

  it('is not what a blob is called that cannot be read for a while', async () => {
    const digest = await blobs.put(Buffer.from('{"from":"the blob"}'))
    const spilled = { inputs: { digest, size: 19, canonical: digest } }
    await append(eventStore, 'CallStarted', { ...startOf('a'), inputs: null, spilled })
    const working = blobs
    let failures = 2
    blobs = {
      ...working,
      get: async (wanted) => {
        if ((failures -= 1) >= 0) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
        return working.get(wanted)
      },
    }
    const projector = await start()
    await reached()

    assert.equal(projector.quarantined(), 0)
    const rows = await clickHouse.writer.query('SELECT inputs FROM calls FINAL')
    assert.deepEqual(rows, [{ inputs: '{"from":"the blob"}' }])
  })

  it('keeps no payload in the quarantine or in the log', async () => {
    const secret = 'not-for-operators'
    const inputs = { secret }
    await append(eventStore, 'CallStarted', { ...startOf('a'), inputs, started_at: null })
    await append(eventStore, 'CallStarted', { ...startOf('b'), inputs, wb_run_step: 1.5 })
    const digest = await blobs.put(Buffer.from(secret))
    await append(eventStore, 'CallStarted', {
      ...startOf('c'),
      spilled: { inputs: { digest, size: 1, canonical: digest } },
    })
    await start()
    await reached()

    const kept = await clickHouse.writer.query('SELECT * FROM quarantine')
    assert.equal(kept.length, 3)
    assert.ok(!JSON.stringify([kept, logged]).includes(secret))
  })
})

describe('a service with a poisoned event', () => {
  it('says so in its health, and serves the rest', async () => {
    const service = await startTestService()
    try {
      const start = { ...startOf('good'), attributes: {} }
      assert.equal((await service.post('/call/start', { start })).status, 200)
      assert.deepEqual((await service.send('GET', '/health')).json(), { status: 'ok' })

      const position = await append(service.stores.eventStore, 'CallStarted', {})
      const headers = { 'Tallytree-Min-Position': String(position) }
      const read = await service.in(PROJECT).with({ headers }).calls.query()

      assert.deepEqual(
        read.json<{ calls: readonly { id: string }[] }>().calls.map(({ id }) => id),
        ['good'],
      )
      const health = await service.send('GET', '/health')
      assert.equal(health.status, 200)
      assert.deepEqual(health.json(), { status: 'degraded', quarantined_events: '1' })
      const told = service.logged.filter(({ event }) => event === 'projection.event_quarantined')
      assert.deepEqual(
        told.map((line) => line['position']),
        [String(position)],
      )
    } finally {
      await service.stop()
    }
  })
})

const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
