import assert from 'node:assert/strict'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { openEmbeddedClickHouse } from '../../../src/adapters/clickhouse/embedded.js'
import { openClickHouseServer } from '../../../src/adapters/clickhouse/server.js'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { openInMemorySecretStore } from '../../../src/adapters/secrets/in-memory-secret-store.js'
import { openHealth } from '../../../src/application/health.js'
import { startService, type Service } from '../../../src/composition/service.js'
import { readConfig } from '../../../src/config.js'
import type { ClickHouse } from '../../../src/kernel/ports/clickhouse.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import type { Log } from '../../../src/kernel/ports/log.js'
import {
  startClickHouseServer,
  describeWithClickHouseServer,
  type ClickHouseServer,
} from '../../support/clickhouse-server.js'
import { appendNext } from '../../support/append-next.js'
import { arbitraryDatabase, engineDirectory } from '../../support/engine.js'
import { append, startOf } from '../projections/given-log.js'
import { scratchDirectory } from '../../support/scratch.js'
import { until } from '../../support/until.js'

const KEY = 'administrator-key-of-the-tests'
const PROJECT = 'default/shared'
const ALL_ROLES = 'api,projector,dispatcher'
/** Logged every few seconds of a rebuild. */
/** Of what takes more than a second. */
const PROGRESS: ReadonlySet<string> = new Set(['projection.rebuilding', 'projection.rebuilt'])

/** Of another deployment, or of this one at an earlier time. */
interface Deployment {
  readonly eventStore: EventStore
  readonly start: (roles?: string) => Promise<Service>
  readonly startEmbedded: () => Promise<Service>
}

describeWithClickHouseServer('the read side', () => {
  let server: ClickHouseServer | undefined
  let database: string
  let running: Service[]
  let logged: string[]
  beforeEach(() => {
    database = arbitraryDatabase()
    running = []
    logged = []
  })
  afterEach(async () => {
    for (const service of running) await service.stop()
  })
  after(() => server?.stop())

  const levels = new Set<string>()
  beforeEach(() => levels.clear())
  const note = (level: string) => (event: string) => {
    logged.push(event)
    levels.add(level)
  }
  const log: Log = { info: note('info'), warn: note('warn'), error: note('error') }

  const deploymentOver = (eventStore: EventStore): Deployment => {
    const blobs = openInMemoryBlobStore()
    const secrets = openInMemorySecretStore()
    const startOver = async (environment: Record<string, string>, clickHouse: ClickHouse) => {
      const config = readConfig({
        EVENTSTORE_URL: 'esdb://in.memory',
        TALLYTREE_PORT: '0',
        TALLYTREE_DATA_DIR: await scratchDirectory(),
        TALLYTREE_BOOTSTRAP_API_KEY: KEY,
        ...environment,
      })
      const lent = { ...eventStore, close: () => Promise.resolve() }
      const service = await startService(
        config,
        { eventStore: lent, blobs, clickHouse, secrets, health: openHealth(log) },
        log,
      )
      running.push(service)
      return service
    }
    const start = async (roles = ALL_ROLES) => {
      server ??= await startClickHouseServer()
      const url = `${server.url}/${database}`
      return startOver({ CLICKHOUSE_URL: url, TALLYTREE_ROLES: roles }, await openClickHouseServer(url))
    }
    const startEmbedded = async () => startOver({}, await openEmbeddedClickHouse(engineDirectory, database))
    return { eventStore, start, startEmbedded }
  }
  const deployment = () => deploymentOver(openInMemoryEventStore())

  const stop = async (service: Service) => {
    running.splice(running.indexOf(service), 1)
    await service.stop()
  }

  const post = async ({ address }: Service, path: string, body: unknown, headers = {}) => {
    const response = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }

  const write = async (service: Service, id: string) => {
    const started_at = '2026-01-01T00:00:00Z'
    const start = { project_id: PROJECT, id, op_name: 'op', started_at, attributes: {}, inputs: {} }
    assert.equal((await post(service, '/call/start', { start })).status, 200)
  }

  const idsIn = async (service: Service): Promise<readonly string[]> => {
    for (;;) {
      const { status, text } = await post(service, '/calls/query', { project_id: PROJECT })
      if (status === 200) return (JSON.parse(text) as { calls: { id: string }[] }).calls.map(({ id }) => id)
      assert.equal(status, 503, text)
    }
  }

  const health = async ({ address }: Service) => (await fetch(`${address}/health`)).text()

  const filled = async (by: Deployment, ...ids: string[]) => {
    const service = await by.start()
    for (const id of ids) await write(service, id)
    assert.deepEqual(await idsIn(service), ids)
    await stop(service)
  }

  /** Rows by table; merges in the background do not change these numbers. */
  const rowsByTable = async () => {
    const tables = await server!.ask(
      `SELECT name FROM system.tables WHERE database = '${database}' AND engine != 'MergeTree'`,
    )
    const counts = tables
      .trim()
      .split('\n')
      .map((name) => `SELECT '${name}' AS name, count() FROM ${database}.${name} FINAL`)
    return server!.ask(`SELECT * FROM (${counts.join(' UNION ALL ')}) ORDER BY name`)
  }

  it('refuses a database that another log filled, whatever its roles, and changes nothing', async () => {
    await filled(deployment(), 'theirs-1', 'theirs-2')
    const before = await rowsByTable()
    for (const roles of [ALL_ROLES, 'projector', 'api', 'dispatcher'])
      await assert.rejects(deployment().start(roles), {
        name: 'ClickHouseUnavailable',
        message:
          /^CLICKHOUSE_URL: the database "t_\w+" does not belong to the event log at EVENTSTORE_URL: .*Name another database/,
      })
    assert.equal(await rowsByTable(), before)
  })

  it('empties the database of the embedded engine that another EventStoreDB filled', async () => {
    const theirs = await deployment().startEmbedded()
    await write(theirs, 'theirs')
    assert.deepEqual(await idsIn(theirs), ['theirs'])
    await stop(theirs)
    const own = await deployment().startEmbedded()
    await write(own, 'ours')
    assert.deepEqual(await idsIn(own), ['ours'])
    assert.ok(logged.includes('projection.log_shorter_than_checkpoint'))
  })

  it('fills the tables of an earlier schema again, and says so', async () => {
    const own = deployment()
    const service = await own.startEmbedded()
    await write(service, 'call-1')
    assert.deepEqual(await idsIn(service), ['call-1'])
    await stop(service)
    const clickHouse = await openEmbeddedClickHouse(engineDirectory, database)
    const earlier = { table: 'schema_version', columns: ['version', 'digest'], values: [[0, 'earlier']] }
    await clickHouse.writer.insert(earlier)
    await clickHouse.writer.command('TRUNCATE TABLE calls')
    await clickHouse.close()
    const upgraded = await own.startEmbedded()
    assert.deepEqual(await idsIn(upgraded), ['call-1'])
    assert.deepEqual(
      logged.filter((event) => event.startsWith('projection.') && !PROGRESS.has(event)),
      ['projection.upgrading'],
    )
    assert.equal(await health(upgraded), '{"status":"ok"}')
  })

  it('fills the tables of a release that noted no log again, which is no error', async () => {
    const own = deployment()
    const service = await own.startEmbedded()
    await write(service, 'call-1')
    assert.deepEqual(await idsIn(service), ['call-1'])
    await stop(service)
    const clickHouse = await openEmbeddedClickHouse(engineDirectory, database)
    await clickHouse.writer.command('CREATE TABLE migrations (name String) ENGINE = MergeTree ORDER BY name')
    await clickHouse.close()
    const upgraded = await own.startEmbedded()
    assert.deepEqual(await idsIn(upgraded), ['call-1'])
    assert.deepEqual(
      logged.filter((event) => event.startsWith('projection.') && !PROGRESS.has(event)),
      ['projection.upgrading'],
    )
    assert.deepEqual(levels.has('error'), false)
  })

  it('says nothing of a rebuild at the second start after one that was stopped at once', async () => {
    const own = deployment()
    for (let starts = 0; starts < 3; starts += 1) await stop(await own.startEmbedded())
    assert.deepEqual(
      logged.filter((event) => event.startsWith('projection.')),
      [],
    )
  })

  it('goes on with the database that its own log filled', async () => {
    const own = deployment()
    await filled(own, 'call-1')
    const service = await own.start()
    await write(service, 'call-2')
    assert.deepEqual(await idsIn(service), ['call-1', 'call-2'])
  })

  it('refuses a database that is ahead of its log', async () => {
    const own = deployment()
    const earlier = openInMemoryEventStore()
    await filled(own, 'call-1', 'call-2')
    for await (const event of own.eventStore.readAll({ limit: 5 }))
      await appendNext(earlier, event.stream, [event])
    await assert.rejects(
      deploymentOver(earlier).start(),
      /was filled up to position \d+, and the log ends at position \d+/,
    )
  })

  describe('with a database of a release with numbered migrations', () => {
    /** As such a release leaves it, with the first event of a log. */
    const make = async (event: string, position = 1n) => {
      server ??= await startClickHouseServer()
      await server.ask(`CREATE DATABASE ${database}`)
      for (const sql of [
        'migrations (name String) ENGINE = MergeTree ORDER BY name',
        'checkpoints (projector String, position UInt64) ENGINE = MergeTree ORDER BY projector',
        'source_log (event_id String, position UInt64) ENGINE = MergeTree ORDER BY event_id',
        'calls (id String) ENGINE = MergeTree ORDER BY id',
      ])
        await server.ask(`CREATE TABLE ${database}.${sql}`)
      await server.ask(`INSERT INTO ${database}.checkpoints VALUES ('main', 9)`)
      await server.ask(`INSERT INTO ${database}.source_log VALUES ('${event}', ${position})`)
    }

    it('fills new tables where the first event is that of the log', async () => {
      const own = deployment()
      await append(own.eventStore, 'CallStarted', startOf('ours'))
      for await (const { id, position } of own.eventStore.readAll({ limit: 1 })) await make(id, position)
      const service = await own.start()
      await write(service, 'call-1')
      assert.deepEqual(await idsIn(service), ['call-1'])
    })

    it('refuses it where it is not, and changes nothing', async () => {
      await make('of-another-log')
      await assert.rejects(deployment().start(), {
        name: 'ClickHouseUnavailable',
        message: /Nothing was changed/,
      })
      assert.equal(await server!.ask(`SELECT count() FROM ${database}.checkpoints`), '1\n')
    })
  })

  it('writes nothing into a database that another log filled while its own was empty', async () => {
    const idle = deployment()
    const projector = await idle.start('projector')
    await filled(deployment(), 'theirs')
    const before = await rowsByTable()
    await append(idle.eventStore, 'CallStarted', startOf('ours'))
    await until(async () =>
      (await health(projector)).includes('the ClickHouse database is in use: it was filled'),
    )
    assert.equal(await rowsByTable(), before)
  })

  it('answers nothing from a database that another log filled since the start', async () => {
    const api = await deployment().start('api')
    assert.equal((await post(api, '/calls/query', { project_id: PROJECT })).status, 503)
    await filled(deployment(), 'theirs')
    await until(async () => (await health(api)).includes('the ClickHouse database is in use: it was filled'))
    const stale = await post(api, '/calls/query', { project_id: PROJECT }, { 'tallytree-stale': 'allow' })
    assert.doesNotMatch(stale.text, /theirs/)
    assert.equal((await post(api, '/calls/query', { project_id: PROJECT })).status, 503)
  })
})
