import assert from 'node:assert/strict'
import { openClickHouseServer } from '../../../../src/adapters/clickhouse/server.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { startClickHouseFront, type ClickHouseFront } from '../../../support/clickhouse-http-front.js'
import { arbitraryDatabase } from '../../../support/engine.js'

describe('several hosts of a ClickHouse server', () => {
  let first: ClickHouseFront
  let second: ClickHouseFront
  let clickHouse: ClickHouse
  beforeEach(async () => {
    first = await startClickHouseFront()
    second = await startClickHouseFront()
  })
  afterEach(async () => {
    await clickHouse.close()
    await second.stop()
  })

  const open = () =>
    openClickHouseServer(`${first.url},${second.url.replace('http://', '')}/${arbitraryDatabase()}`)
  const insert = (id: number) => clickHouse.writer.insert({ table: 'any', columns: ['id'], values: [[id]] })
  const ids = async () => {
    const rows = await clickHouse.reader.query<{ id: number }>('SELECT id FROM any ORDER BY id')
    return rows.map(({ id }) => id)
  }

  it('go on with the second one when the first one ends', async () => {
    clickHouse = await open()
    await clickHouse.writer.command('CREATE TABLE any (id UInt32) ENGINE = MergeTree ORDER BY id')
    await insert(1)
    await first.stop()
    assert.deepEqual(await ids(), [1])
    await insert(2)
    assert.deepEqual(await ids(), [1, 2])
    const beside = await clickHouse.beside(arbitraryDatabase())
    assert.deepEqual(await beside.reader.query('SELECT 1 AS a'), [{ a: 1 }])
    await beside.close()
  })

  it('are opened while the first one is away', async () => {
    await first.stop()
    clickHouse = await open()
    assert.deepEqual(await clickHouse.reader.query('SELECT 1 AS a'), [{ a: 1 }])
  })
})
