import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectClickHouseServer } from '../../../src/adapters/clickhouse/server.js'
import { damagedFiles } from '../../../src/projections/runtime/damaged-files.js'
import {
  describeWithClickHouseServer,
  startClickHouseServer,
  type ClickHouseServer,
} from '../../support/clickhouse-server.js'
import { startTestService, type TestService } from '../../support/service.js'
import { until } from '../../support/until.js'

const PROJECT = 'default/rights'

const TABLES = 'SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE'
const ALL = [
  `${TABLES}, CHECK ON DB.*`,
  `${TABLES} ON \`DB_rebuild_\`*.*`,
  'TABLE ENGINE ON *',
  'SELECT ON system.*',
]
const without = (start: string) => ALL.filter((grant) => !grant.startsWith(start))

/** Users by name, with their grants and profile. */
const USERS: Readonly<Record<string, readonly [grants: readonly string[], profile?: string]>> = {
  documented: [ALL],
  small: [ALL, 'small'],
  checking: [ALL],
  checking_once: [ALL, 'once'],
  unseeing: [without('SELECT ON system')],
  unchecking: [[`${TABLES} ON DB.*`, ...ALL.slice(1)]],
  alone: [[ALL[0]!, ...ALL.slice(2)]],
  engineless: [without('TABLE ENGINE')],
  reading: [['SELECT ON reading.*', 'CREATE DATABASE ON reading.*', 'SELECT ON system.*']],
}

const users = Object.entries(USERS)
  .map(
    ([name, [grants, profile = 'default']]) =>
      `<${name}><password>hidden</password><profile>${profile}</profile><grants>` +
      grants.map((grant) => `<query>GRANT ${grant.replace('DB', name)}</query>`).join('') +
      `</grants></${name}>`,
  )
  .join('')

/** Servers before 25.12 have the value of `once` in every profile. */
const profiles =
  '<once><check_query_single_value_result>1</check_query_single_value_result></once>' +
  '<small><max_memory_usage>1000000000</max_memory_usage>' +
  '<constraints><max_memory_usage><max>1000000000</max></max_memory_usage></constraints></small>'

describeWithClickHouseServer('the service as a user of ClickHouse', () => {
  let server: ClickHouseServer
  let service: TestService | undefined
  before(async () => {
    server = await startClickHouseServer({ users, profiles })
  })
  after(() => server.stop())
  afterEach(async () => {
    await service?.stop()
    service = undefined
  })

  /** The database has the user's name. */
  const start = async (user: keyof typeof USERS) => {
    const url = `${server.url.replace('//', `//${user}:hidden@`)}/${user}`
    service = await startTestService({ CLICKHOUSE_URL: url }, (health) =>
      Promise.resolve(connectClickHouseServer(url, { health })),
    )
    return service
  }

  const writeAndRead = async ({ post }: TestService) => {
    const start = { project_id: PROJECT, id: 'one', op_name: 'op', started_at: '2026-01-01T00:00:00Z' }
    assert.equal((await post('/call/start', { start: { ...start, attributes: {}, inputs: {} } })).status, 200)
    const { status, text } = await post('/calls/query', { project_id: PROJECT })
    assert.equal(status, 200, text)
    assert.match(text, /"one"/)
    assert.equal((await post('/calls/query_stats', { project_id: PROJECT })).status, 200)
  }

  const rebuilt = async (running: TestService) => {
    const asked = await running.send('POST', '/api/admin/rebuilds')
    assert.equal(asked.status, 200, asked.text)
    const { id } = JSON.parse(asked.text) as { id: string }
    let rebuild: { state: string; reason: string | null } = { state: '', reason: null }
    await until(async () => {
      const { status, text } = await running.send('GET', `/api/admin/rebuilds/${id}`)
      if (status === 200) rebuild = JSON.parse(text) as typeof rebuild
      return rebuild.state === 'finished' || rebuild.state === 'failed'
    })
    return rebuild
  }

  const warnings = ({ logged }: TestService) =>
    logged.filter(({ level }) => level !== 'info').map(({ event }) => event)

  for (const user of ['documented', 'small'])
    it(`writes, reads and rebuilds as the user ${user}`, async () => {
      const running = await start(user)
      await writeAndRead(running)
      assert.deepEqual(await rebuilt(running).then(({ state }) => state), 'finished')
      await writeAndRead(running)
      assert.deepEqual(warnings(running), [])
    })

  for (const [user, lacks] of [
    ['unseeing', 'SELECT ON system.parts'],
    ['unchecking', 'CHECK ON unchecking.*'],
  ] as const)
    it(`works as the user ${user}, and names the missing grant once`, async () => {
      const running = await start(user)
      await writeAndRead(running)
      assert.equal((await rebuilt(running)).state, 'finished')
      const warned = running.logged.filter(({ level }) => level !== 'info')
      assert.deepEqual(warned, [{ level: 'warn', event: 'projection.tables_not_compared', lacks }])
    })

  for (const user of ['checking', 'checking_once'])
    it(`compares files with their checksums as the user ${user}`, async () => {
      const running = await start(user)
      await writeAndRead(running)
      await running.stop()
      const { reader } = connectClickHouseServer(`${server.url.replace('//', `//${user}:hidden@`)}/${user}`)
      const { signal } = new AbortController()
      assert.deepEqual(await damagedFiles(reader, signal), [])
      const path = await server.ask(
        `SELECT path FROM system.parts WHERE active AND database = '${user}' AND table = 'calls' LIMIT 1`,
      )
      const file = join(path.trim(), 'data.bin')
      const bytes = readFileSync(file)
      bytes[bytes.length >> 1]! ^= 1
      writeFileSync(file, bytes)
      assert.deepEqual(await damagedFiles(reader, signal), ['files of calls are damaged'])
    })

  it('fails a rebuild once, with its reason, when it may not create the second database', async () => {
    const running = await start('alone')
    await writeAndRead(running)
    const { state, reason } = await rebuilt(running)
    assert.equal(state, 'failed')
    assert.match(reason ?? '', /CLICKHOUSE_URL.*lacks the grant CREATE DATABASE ON alone_rebuild_\w+\.\*$/)
    assert.deepEqual(warnings(running), ['rebuild.failed'])
    await writeAndRead(running)
  })

  for (const [user, grant] of [
    ['engineless', /lacks the grant TABLE ENGINE ON \w+$/],
    ['reading', /lacks the grant CREATE TABLE ON reading\.\w+$/],
  ] as const)
    it(`does not start as the user ${user}, and names the grant`, async () => {
      await assert.rejects(start(user), ({ name, message }: Error) => {
        assert.equal(name, 'ClickHouseUnavailable')
        assert.match(message, /^CLICKHOUSE_URL/)
        assert.match(message, grant)
        assert.doesNotMatch(message, /hidden/)
        return true
      })
    })
})
