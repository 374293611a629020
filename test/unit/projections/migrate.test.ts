import assert from 'node:assert/strict'
import { openEmbeddedClickHouse } from '../../../src/adapters/clickhouse/embedded.js'
import { openClickHouseServer } from '../../../src/adapters/clickhouse/server.js'
import type { ClickHouse, ClickHouseWriter } from '../../../src/kernel/ports/clickhouse.js'
import { migrate, schemaState, SCHEMA_VERSION } from '../../../src/projections/migrate.js'
import { tableStatements } from '../../../src/projections/tables.js'
import { COUNTS } from '../../counts.js'
import { startClickHouseFront, type ClickHouseFront } from '../../support/clickhouse-http-front.js'
import { arbitraryDatabase, engineDirectory, openTestClickHouse } from '../../support/engine.js'

const ROUNDS = COUNTS.migrationRaces

const tablesOf = async ({ writer }: Pick<ClickHouse, 'writer'>) => {
  const rows = await writer.query<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  )
  return rows.map(({ name }) => name)
}

describe('the tables', () => {
  let front: ClickHouseFront
  let names: readonly string[]
  before(async () => {
    front = await startClickHouseFront()
    names = [...tableStatements.keys()].sort()
  })
  after(() => front.stop())

  let clickHouse: ClickHouse
  beforeEach(async () => (clickHouse = await openTestClickHouse()))
  afterEach(() => clickHouse.close())

  const setVersion = (version: number, digest: string) =>
    clickHouse.writer.insert({
      table: 'schema_version',
      columns: ['version', 'digest'],
      values: [[version, digest]],
    })

  const countOf = async (table: string) => {
    const [row] = await clickHouse.writer.query<{ rows: number }>(`SELECT count() AS rows FROM ${table}`)
    return row?.rows
  }

  const fill = () =>
    clickHouse.writer.insert({
      table: 'checkpoints',
      columns: ['projector', 'position'],
      values: [['main', 7]],
    })

  const engines: Readonly<Record<string, (database: string) => Promise<ClickHouse>>> = {
    'the embedded engine': (database) => openEmbeddedClickHouse(engineDirectory, database),
    'a server, played by the HTTP front': (database) => openClickHouseServer(`${front.url}/${database}`),
  }

  for (const [name, open] of Object.entries(engines))
    it(`are complete when several processes start at once: ${name}`, async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const database = arbitraryDatabase()
        const starters = await Promise.all([1, 2, 3].map(() => open(database)))
        await Promise.all(starters.map(({ writer }) => migrate(writer)))
        assert.deepEqual(await tablesOf(starters[0]!), names)
        assert.equal(await schemaState(starters[0]!.writer), 'current')
        for (const starter of starters) await starter.close()
      }
    })

  it('are each created by the one statement of their file', async () => {
    for (const [table, statement] of tableStatements) {
      assert.ok(statement.startsWith(`CREATE TABLE ${table}\n(`), table)
      assert.doesNotMatch(statement, /;/, table)
    }
  })

  it('keep their rows while the schema is the same', async () => {
    await migrate(clickHouse.writer)
    await fill()
    await migrate(clickHouse.writer)
    assert.equal(await countOf('checkpoints'), 1)
  })

  const olderDatabases: Readonly<Record<string, () => Promise<void>>> = {
    'an earlier version': async () => {
      await migrate(clickHouse.writer)
      await fill()
      await setVersion(SCHEMA_VERSION - 1, 'of an earlier release')
    },
    'other statements under the same version': async () => {
      await migrate(clickHouse.writer)
      await fill()
      await setVersion(SCHEMA_VERSION, 'of other statements')
    },
    'a release with numbered migrations': async () => {
      for (const table of await tablesOf(clickHouse))
        await clickHouse.writer.command(`DROP TABLE ${table} SYNC`)
      for (const sql of [
        'CREATE TABLE migrations (name String) ENGINE = ReplacingMergeTree ORDER BY name',
        'CREATE TABLE checkpoints (projector String, position UInt64) ENGINE = ReplacingMergeTree ORDER BY projector',
        'CREATE TABLE calls (id String, renamed String) ENGINE = MergeTree ORDER BY id',
      ])
        await clickHouse.writer.command(sql)
      await fill()
    },
  }

  for (const [name, given] of Object.entries(olderDatabases))
    it(`are dropped and created again after ${name}, wherever that is cut off`, async () => {
      const cutOffAfter = (steps: number): ClickHouseWriter => {
        const step = () => {
          if ((steps -= 1) < 0) throw new Error('cut off')
        }
        return {
          query: (sql, parameters) => clickHouse.writer.query(sql, parameters),
          command: async (sql) => (step(), clickHouse.writer.command(sql)),
          insert: async (rows) => (step(), clickHouse.writer.insert(rows)),
        }
      }
      for (let steps = 0; ; steps += COUNTS.migrationCutStep) {
        await given()
        const isDone = await migrate(cutOffAfter(steps)).then(
          () => true,
          () => false,
        )
        await migrate(clickHouse.writer)
        assert.deepEqual(await tablesOf(clickHouse), names)
        assert.equal(await countOf('checkpoints'), 0)
        assert.equal(await schemaState(clickHouse.writer), 'current')
        if (isDone) break
      }
    })

  it('of a rebuild that an earlier release began are dropped too, and those of others are kept', async () => {
    const { writer, database } = clickHouse
    const other = await clickHouse.beside(`${database}_rebuild_old`)
    await migrate(writer)
    await writer.command('CREATE TABLE of_an_operator (id String) ENGINE = MergeTree ORDER BY id')
    await setVersion(SCHEMA_VERSION - 1, 'of an earlier release')
    await migrate(writer)
    const databases = await writer.query(
      `SELECT name FROM system.databases WHERE startsWith(name, '${database}_rebuild_')`,
    )
    assert.deepEqual(databases, [])
    assert.ok((await tablesOf(clickHouse)).includes('of_an_operator'))
    await other.close()
  })

  it('are left alone where a newer release has used them', async () => {
    await migrate(clickHouse.writer)
    await fill()
    await setVersion(SCHEMA_VERSION + 1, 'of a newer release')
    await assert.rejects(migrate(clickHouse.writer), {
      name: 'OperatorError',
      message: new RegExp(`its schema has version ${SCHEMA_VERSION + 1}`),
    })
    assert.equal(await countOf('checkpoints'), 1)
  })
})
