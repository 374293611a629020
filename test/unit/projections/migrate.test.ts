import assert from 'node:assert/strict'
import { openEmbeddedClickHouse } from '../../../src/adapters/clickhouse/embedded.js'
import { openClickHouseServer } from '../../../src/adapters/clickhouse/server.js'
import type { ClickHouse, ClickHouseWriter } from '../../../src/domain/ports/clickhouse.js'
import type { RecordedEvent } from '../../../src/domain/ports/event-store.js'
import { migrate, schemaFiles, statementsOf } from '../../../src/projections/migrate.js'
import {
  countQuarantined,
  readCheckpoint,
  writeCheckpoint,
  writeQuarantine,
} from '../../../src/projections/runtime/checkpoint.js'
import { COUNTS } from '../../counts.js'
import { startClickHouseFront, type ClickHouseFront } from '../../support/clickhouse-http-front.js'
import { arbitraryDatabase, engineDirectory } from '../../support/engine.js'

const ROUNDS = COUNTS.migrationRaces

const tablesOf = ({ writer }: ClickHouse) =>
  writer.query<{ name: string; columns: string }>(
    'SELECT name, create_table_query AS columns FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  )

const filesDone = async ({ writer }: ClickHouse) =>
  (await writer.query<{ name: string }>('SELECT DISTINCT name FROM migrations ORDER BY name')).map(
    ({ name }) => name,
  )

describe('migrations', () => {
  let front: ClickHouseFront
  before(async () => (front = await startClickHouseFront()))
  after(() => front.stop())

  const engines: Readonly<Record<string, (database: string) => Promise<ClickHouse>>> = {
    'the embedded engine': (database) => openEmbeddedClickHouse(engineDirectory, database),
    'a server, played by the HTTP front': (database) => openClickHouseServer(`${front.url}/${database}`),
  }

  for (const [name, open] of Object.entries(engines))
    it(`come out the same when several starters race: ${name}`, async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const database = arbitraryDatabase()
        const starters = await Promise.all([1, 2, 3].map(() => open(database)))
        await Promise.all(starters.map(({ writer }) => migrate(writer)))
        assert.deepEqual(await filesDone(starters[0]!), await schemaFiles())
        for (const starter of starters) await starter.close()
      }
    })

  /** Fails for good after so many statements and inserts. */
  const cutOffAfter = (writer: ClickHouseWriter, steps: number): ClickHouseWriter => {
    const step = () => {
      if ((steps -= 1) < 0) throw new Error('cut off')
    }
    return {
      query: (sql, parameters) => writer.query(sql, parameters),
      command: async (sql) => (step(), writer.command(sql)),
      insert: async (rows) => (step(), writer.insert(rows)),
    }
  }

  it('are simply run again when they were cut off, wherever that was', async () => {
    const whole = await openEmbeddedClickHouse(engineDirectory, arbitraryDatabase())
    await migrate(whole.writer)
    const expected = (await tablesOf(whole)).map(({ name }) => name)
    await whole.close()
    const files = await schemaFiles()
    const statements = (await Promise.all(files.map(statementsOf))).flat().length
    for (let steps = 0; steps <= statements + files.length; steps += COUNTS.migrationCutStep) {
      const clickHouse = await openEmbeddedClickHouse(engineDirectory, arbitraryDatabase())
      await assert.rejects(migrate(cutOffAfter(clickHouse.writer, steps)), /cut off/)
      await migrate(clickHouse.writer)
      assert.deepEqual(
        (await tablesOf(clickHouse)).map(({ name }) => name),
        expected,
      )
      assert.deepEqual(await filesDone(clickHouse), files)
      await clickHouse.close()
    }
  })

  it('leave alone a database that a later release has used', async () => {
    const clickHouse = await openEmbeddedClickHouse(engineDirectory, arbitraryDatabase())
    await migrate(clickHouse.writer)
    const before = await tablesOf(clickHouse)
    await clickHouse.writer.insert({ table: 'migrations', columns: ['name'], values: [['9000_later.sql']] })
    await assert.rejects(migrate(clickHouse.writer), { name: 'OperatorError', message: /9000_later\.sql/ })
    assert.deepEqual(await tablesOf(clickHouse), before)
    await clickHouse.close()
  })

  it('have events that were set aside projected again, and nothing where none were or nothing is new', async () => {
    const clickHouse = await openEmbeddedClickHouse(engineDirectory, arbitraryDatabase())
    const { writer } = clickHouse
    const last = (await schemaFiles()).find((name) => name.startsWith('0015'))
    const upgrade = async (setAside: number, isUpgrade: boolean) => {
      await writeCheckpoint(writer, 7n)
      const event = { position: 3n, id: 'e', type: 'T', stream: 's' } as RecordedEvent
      await writeQuarantine(writer, Array(setAside).fill({ event, reason: 'r' }))
      if (isUpgrade)
        await writer.command(
          `ALTER TABLE migrations DELETE WHERE name = '${last}' SETTINGS mutations_sync = 1`,
        )
      await migrate(writer)
      return [await readCheckpoint(writer), await countQuarantined(writer)]
    }
    await migrate(writer)

    assert.deepEqual(await upgrade(0, true), [7n, 0])
    assert.deepEqual(await upgrade(1, false), [7n, 1])
    assert.deepEqual(await upgrade(0, true), [0n, 0])
    await clickHouse.close()
  })

  it('are statements that may be run again', async () => {
    for (const name of await schemaFiles())
      for (const statement of await statementsOf(name))
        assert.match(
          statement,
          /^(CREATE TABLE |TRUNCATE TABLE |DROP TABLE IF EXISTS |ALTER TABLE \w+ ((ADD|DROP) (COLUMN|INDEX) IF (NOT )?EXISTS|(MATERIALIZE|MODIFY) \w+)\s)/,
          name,
        )
  })
})
