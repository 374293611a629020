import assert from 'node:assert/strict'
import type { ClickHouse } from '../../../../src/domain/ports/clickhouse.js'
import { schemaFiles, statementsOf } from '../../../../src/projections/migrate.js'
import { onCluster } from '../../../../src/adapters/clickhouse/on-cluster.js'
import { openTestClickHouse } from '../../../support/engine.js'

const repeatable = (statement: string) => statement.replace(/^CREATE TABLE /, 'CREATE TABLE IF NOT EXISTS ')

describe('the schema on a cluster', () => {
  let clickHouse: ClickHouse
  before(async () => (clickHouse = await openTestClickHouse()))
  after(() => clickHouse.close())

  it('has every table on every server, replicated, and deduplicates nothing', async () => {
    let tables = 0
    for (const name of await schemaFiles())
      for (const statement of await statementsOf(name)) {
        const transformed = onCluster('main', repeatable(statement))
        const [parsed] = await clickHouse.reader.query<{ sql: string }>(
          'SELECT formatQuerySingleLine({transformed:String}) AS sql',
          { transformed },
        )
        assert.match(transformed, / ON CLUSTER main\b/)
        if (!statement.startsWith('CREATE TABLE')) continue
        tables += 1
        assert.match(
          parsed!.sql,
          /\) ENGINE = Replicated\w+MergeTree\('\/clickhouse\/tables\/\{uuid\}\/\{shard\}', '\{replica\}'/,
        )
        assert.match(transformed, /\bSETTINGS replicated_deduplication_window = 0\b/)
        assert.equal(transformed.match(/\bSETTINGS\b/g)?.length, 1)
      }
    assert.ok(tables >= 10)
  })

  it('keeps the rest of a statement as it is', async () => {
    const [checkpoints] = await statementsOf('0001_checkpoints.sql')
    assert.equal(
      onCluster('main', repeatable(checkpoints!)),
      `CREATE TABLE IF NOT EXISTS checkpoints ON CLUSTER main
(
    projector String,
    position UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', position)
ORDER BY projector
SETTINGS replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1`,
    )
  })

  it('knows the other statements that concern all servers', () => {
    const changed = {
      'ALTER TABLE calls ADD COLUMN IF NOT EXISTS a String':
        'ALTER TABLE calls ON CLUSTER main ADD COLUMN IF NOT EXISTS a String',
      'EXCHANGE TABLES a.calls AND b.calls': 'EXCHANGE TABLES a.calls AND b.calls ON CLUSTER main',
      'CREATE DATABASE IF NOT EXISTS b': 'CREATE DATABASE IF NOT EXISTS b ON CLUSTER main',
      'DROP DATABASE IF EXISTS b SYNC': 'DROP DATABASE IF EXISTS b ON CLUSTER main SYNC',
    }
    for (const [statement, expected] of Object.entries(changed))
      assert.equal(onCluster('main', statement), expected)
  })

  it('refuses what it would run on one server alone', () => {
    for (const statement of [
      'OPTIMIZE TABLE calls',
      'CREATE TABLE IF NOT EXISTS a (b String) ENGINE = Memory',
    ])
      assert.throws(() => onCluster('main', statement), /no ON CLUSTER form/)
  })
})
