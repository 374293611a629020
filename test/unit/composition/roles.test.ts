import assert from 'node:assert/strict'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { openEmbeddedClickHouse } from '../../../src/adapters/clickhouse/embedded.js'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { openInMemorySecretStore } from '../../../src/adapters/secrets/in-memory-secret-store.js'
import { openHealth } from '../../../src/application/health.js'
import { startService, type Service } from '../../../src/composition/service.js'
import { readConfig } from '../../../src/config.js'
import type { Log } from '../../../src/kernel/ports/log.js'
import { whenReadable } from '../../support/asking-again.js'
import { arbitraryDatabase, engineDirectory } from '../../support/engine.js'
import { scratchDirectory } from '../../support/scratch.js'

const KEY = 'administrator-key-of-the-tests'
const PROJECT = 'apart/project'
const SERVERS = { EVENTSTORE_URL: 'esdb://played.by.memory', CLICKHOUSE_URL: 'http://played.by.the.engine' }

/** Services with one role each, over one log and one database: as separate processes are, apart from the process. */
describe('roles in processes of their own', () => {
  const eventStore = openInMemoryEventStore()
  const blobs = openInMemoryBlobStore()
  const secrets = openInMemorySecretStore()
  const database = arbitraryDatabase()
  const quiet: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const running: Service[] = []
  let api: Service
  let otherApi: Service
  let projector: Service

  const start = async (role: string): Promise<Service> => {
    const config = readConfig({
      ...SERVERS,
      TALLYTREE_ROLES: role,
      TALLYTREE_PORT: '0',
      TALLYTREE_DATA_DIR: await scratchDirectory(),
      TALLYTREE_BOOTSTRAP_API_KEY: KEY,
    })
    const clickHouse = await openEmbeddedClickHouse(engineDirectory, database)
    const lent = { ...eventStore, close: () => Promise.resolve() }
    const service = await startService(
      config,
      { eventStore: lent, blobs, clickHouse, secrets, health: openHealth(quiet) },
      quiet,
    )
    running.push(service)
    return service
  }

  const askOnce = async (
    { address }: Service,
    method: string,
    path: string,
    body?: unknown,
    headers = {},
  ) => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }

  const ask = (...question: Parameters<typeof askOnce>) =>
    whenReadable(
      () => askOnce(...question),
      ({ text }) => text,
    )

  const startCall = (service: Service, id: string) =>
    ask(service, 'POST', '/call/start', {
      start: {
        project_id: PROJECT,
        id,
        op_name: 'op',
        started_at: '2026-01-01T00:00:00Z',
        attributes: {},
        inputs: {},
      },
    })

  before(async () => {
    projector = await start('projector')
    api = await start('api')
    otherApi = await start('api')
    await start('dispatcher')
  })
  after(() => Promise.all(running.map((service) => service.stop())))

  it('all answer for their health', async () => {
    for (const service of running) assert.equal((await ask(service, 'GET', '/health')).status, 200)
  })

  it('serve the API where it is their role, and nothing else elsewhere', async () => {
    assert.equal((await startCall(projector, 'nowhere')).status, 404)
    assert.equal((await startCall(api, 'first')).status, 200)
  })

  it('read what they wrote, though another process makes it readable', async () => {
    for (let i = 0; i < 5; i += 1) {
      assert.equal((await startCall(api, `own-${i}`)).status, 200)
      const read = await ask(api, 'POST', '/call/read', { project_id: PROJECT, id: `own-${i}` })
      assert.equal(read.status, 200, read.text)
    }
  })

  it('read what another wrote, from the position that it was told', async () => {
    const written = await startCall(api, 'told')
    const position = written.headers.get('tallytree-position')!
    const read = await ask(
      otherApi,
      'POST',
      '/call/read',
      { project_id: PROJECT, id: 'told' },
      { 'tallytree-min-position': position },
    )
    assert.equal(read.status, 200, read.text)
  })

  it('rebuild where the projector is, when the API is asked', async () => {
    const { text } = await ask(api, 'POST', '/api/admin/rebuilds')
    const { id } = JSON.parse(text) as { id: string }
    let state = 'requested'
    while (['requested', 'running', 'swapping'].includes(state)) {
      const seen = await ask(otherApi, 'GET', `/api/admin/rebuilds/${id}`)
      if (seen.status === 200) state = (JSON.parse(seen.text) as { state: string }).state
    }
    assert.equal(state, 'finished')
    assert.equal((await ask(otherApi, 'POST', '/trace/usage', { project_id: PROJECT })).status, 200)
  })

  it('go on when the projector is away: writes at once, reads 503 until it is back', async () => {
    await running.splice(running.indexOf(projector), 1)[0]!.stop()

    assert.equal((await startCall(api, 'unread')).status, 200)
    const alone = await ask(api, 'POST', '/call/read', { project_id: PROJECT, id: 'unread' })
    assert.match(alone.text, /"id":"unread"/, 'a call is read from the log')
    const early = await askOnce(api, 'POST', '/calls/query', { project_id: PROJECT })
    assert.equal(early.status, 503)
    assert.equal(early.headers.get('retry-after'), '1')

    await start('projector')
    let read = await askOnce(api, 'POST', '/calls/query', { project_id: PROJECT })
    while (read.status === 503) read = await askOnce(api, 'POST', '/calls/query', { project_id: PROJECT })
    assert.match(read.text, /"id":"unread"/)
  })
})
