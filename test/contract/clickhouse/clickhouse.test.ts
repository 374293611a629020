import assert from 'node:assert/strict'
import { createClient } from '@clickhouse/client'
import { openClickHouseServer } from '../../../src/adapters/clickhouse/server.js'
import { ClickHouseUnavailable, type ClickHouse } from '../../../src/kernel/ports/clickhouse.js'
import { isFull } from '../../counts.js'
import { describeClickHouse } from './clickhouse-contract.js'
import { startClickHouseFront, type ClickHouseFront } from '../../support/clickhouse-http-front.js'
import {
  describeWithClickHouseServer,
  startClickHouseServer,
  type ClickHouseServer,
} from '../../support/clickhouse-server.js'
import { arbitraryDatabase, openTestClickHouse } from '../../support/engine.js'

describe('the embedded ClickHouse engine', () => {
  describeClickHouse(openTestClickHouse)
})

for (const compression of isFull ? [false, true] : [])
  describe(`a ClickHouse server, played by an HTTP front of the embedded engine${compression ? ', compressed' : ''}`, () => {
    let front: ClickHouseFront
    before(async () => (front = await startClickHouseFront()))
    after(() => front.stop())

    describeClickHouse(() => openClickHouseServer(`${front.url}/${arbitraryDatabase()}`, { compression }))
  })

describeWithClickHouseServer('a ClickHouse server, the one in the package chdb', () => {
  let server: ClickHouseServer
  before(async () => (server = await startClickHouseServer()))
  after(() => server.stop())

  describeClickHouse(() => openClickHouseServer(`${server.url}/${arbitraryDatabase()}`))
})

describe('a ClickHouse server', () => {
  const url = process.env['CLICKHOUSE_URL']
  if (url === undefined || url === '') {
    it('is tested where CLICKHOUSE_URL names one; here it names none')
    return
  }
  const database = arbitraryDatabase()
  const own = new URL(url)
  own.pathname = `/${database}`

  after(async () => {
    own.pathname = '/'
    const client = createClient({ url: own.href })
    await client.command({ query: `DROP DATABASE IF EXISTS ${database}` })
    await client.close()
  })

  describeClickHouse(() => openClickHouseServer(own.href))
})

describe('a ClickHouse server that is away', () => {
  let clickHouse: ClickHouse
  let url: string
  before(async () => {
    const front = await startClickHouseFront()
    url = `${front.url}/${arbitraryDatabase()}`
    clickHouse = await openClickHouseServer(url)
    await front.stop()
  })
  after(() => clickHouse.close())

  const rows = { table: 'any', columns: ['id'], values: [[1]] }

  it('is told apart from one that refuses', async () => {
    const { writer, reader } = clickHouse
    await assert.rejects(reader.query('SELECT 1'), ClickHouseUnavailable)
    await assert.rejects(reader.stream('SELECT 1')[Symbol.asyncIterator]().next(), ClickHouseUnavailable)
    await assert.rejects(writer.query('SELECT 1'), ClickHouseUnavailable)
    await assert.rejects(writer.command('SELECT 1'), ClickHouseUnavailable)
    await assert.rejects(writer.insert(rows), ClickHouseUnavailable)
    await assert.rejects(openClickHouseServer(url), ClickHouseUnavailable)
  })
})
