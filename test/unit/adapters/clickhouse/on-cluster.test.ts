import assert from 'node:assert/strict'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { tableStatements } from '../../../../src/projections/tables.js'
import { onCluster } from '../../../../src/adapters/clickhouse/on-cluster.js'
import { openTestClickHouse } from '../../../support/engine.js'

const repeatable = (statement: string) => statement.replace(/^CREATE TABLE /, 'CREATE TABLE IF NOT EXISTS ')

describe('the schema on a cluster', () => {
  let clickHouse: ClickHouse
  before(async () => (clickHouse = await openTestClickHouse()))
  after(() => clickHouse.close())

  it('has every table on every server, replicated, and deduplicates nothing', async () => {
    const statements = [...tableStatements.values()]
    for (const statement of statements) {
      const transformed = onCluster('main', repeatable(statement))
      const [parsed] = await clickHouse.reader.query<{ sql: string }>(
        'SELECT formatQuerySingleLine({transformed:String}) AS sql',
        { transformed },
      )
      assert.match(transformed, / ON CLUSTER main\b/)
      assert.match(
        parsed!.sql,
        /\) ENGINE = Replicated\w+MergeTree\('\/clickhouse\/tables\/\{uuid\}\/\{shard\}', '\{replica\}'/,
      )
      assert.match(transformed, /\bSETTINGS replicated_deduplication_window = 0\b/)
      assert.equal(transformed.match(/\bSETTINGS\b/g)?.length, 1)
    }
    assert.ok(statements.length >= 10)
  })

  it('keeps the rest of a statement as it is', async () => {
    const statement = tableStatements.get('usage_reporting')
    assert.equal(
      onCluster('main', repeatable(statement!)),
      `CREATE TABLE IF NOT EXISTS usage_reporting ON CLUSTER main
(
    project_id String,
    position UInt64,
    usage_reporting Enum8('auto' = 0, 'own' = 1, 'rolled_up' = 2)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (project_id, position)
SETTINGS replicated_deduplication_window = 0, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0`,
    )
  })

  it('knows the other statements that concern all servers', () => {
    const changed = {
      'DROP TABLE IF EXISTS calls SYNC': 'DROP TABLE IF EXISTS calls ON CLUSTER main SYNC',
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
