import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sha256 } from '../../contract/blobs/blob-store-contract.js'
import { until } from '../../support/until.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const PROJECT = 'default/lost'
const started_at = '2026-01-01T12:00:00Z'

describe('a data directory without its log', () => {
  let service: RunningService
  before(async () => {
    service = await startRunningService()
    const inputs = { text: randomBytes(200_000).toString('hex') }
    const end = { id: 'c', ended_at: started_at, summary: {} }
    await service
      .in(PROJECT)
      .calls.batch([{ start: { id: 'c', op_name: 'op', started_at, inputs } }, { end }])
    const { status } = await service.in(PROJECT).usage.ofTraces()
    assert.equal(status, 200)
    await service.stop()
    cpSync(join(service.dataDirectory, 'events.db'), join(service.dataDirectory, 'kept.db'))
  })
  after(() => service.remove())

  const within = (...names: string[]) => join(service.dataDirectory, ...names)
  /** Every file with its size. */
  const files = () =>
    readdirSync(service.dataDirectory, { recursive: true, encoding: 'utf8' })
      .map((name) => [name, statSync(within(name)).isFile() ? statSync(within(name)).size : 'directory'])
      .sort()
  const removeLog = () => {
    for (const end of ['', '-wal', '-shm']) rmSync(within(`events.db${end}`), { force: true })
  }
  const refused = (pattern: RegExp) => assert.rejects(service.restart(), pattern)

  it('is refused when events.db is missing, and stays as it is', async () => {
    removeLog()
    const before = files()

    await refused(
      /events\.db is missing or empty, but there is data in clickhouse\/ and blobs\/.*Restore events\.db/,
    )

    assert.deepEqual(files(), before)
  })

  it('is refused when events.db is empty', async () => {
    writeFileSync(within('events.db'), '')
    await refused(/events\.db is missing or empty/)
    assert.equal(statSync(within('events.db')).size, 0)
  })

  it('is refused when only the read models or only the blobs are left', async () => {
    removeLog()
    for (const name of ['clickhouse', 'blobs']) {
      renameSync(within(name), within('away'))
      await refused(/events\.db is missing or empty/)
      renameSync(within('away'), within(name))
    }
  })

  it('is refused when events.db has no events', async () => {
    cpSync(within('kept.db'), within('events.db'))
    const db = new Database(within('events.db'))
    for (const table of ['events', 'streams', 'packs']) db.exec(`DELETE FROM ${table}`)
    db.close()
    await refused(/events\.db has no events, but/)
    renameSync(within('blobs'), within('away'))
    await refused(/the log has no events, but there is data in clickhouse\//)
    rmSync(within('blobs'), { recursive: true })
    renameSync(within('away'), within('blobs'))
  })

  it('has all its data once events.db is restored', async () => {
    removeLog()
    cpSync(within('kept.db'), within('events.db'))
    await service.restart()

    const { op_name } = await service.in(PROJECT).calls.read('c')
    assert.equal(op_name, 'op')
    await service.stop()
  })

  it('starts with an empty log when the read models, the blobs and the signed tree are moved away', async () => {
    removeLog()
    for (const name of ['clickhouse', 'blobs', 'log-tree.db', 'log-keys'])
      rmSync(within(name), { recursive: true })
    await service.restart()
  })
})

describe('a service whose stored content is damaged', () => {
  const large = randomBytes(1_000_000)
  const small = randomBytes(1_000)
  let service: RunningService
  before(async () => {
    service = await startRunningService()
    for (const content of [large, small]) await store(content)
  })
  after(() => service.remove())

  const store = async (content: Buffer) => {
    const body = new FormData()
    body.set('project_id', PROJECT)
    body.set('file', new Blob([new Uint8Array(content)]), 'file')
    const response = await fetch(`${service.address}/file/create`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}` },
      body,
    })
    assert.equal(response.status, 200, await response.clone().text())
    digests.set(content, ((await response.json()) as { digest: string }).digest)
  }
  const digests = new Map<Buffer, string>()
  const pathOf = (content: Buffer) => {
    const name = sha256(content)
    return join(service.dataDirectory, 'blobs', name.slice(0, 2), name.slice(2, 4), name)
  }
  /** The content, or how the response ended. */
  const read = async (content: Buffer) => {
    const response = await fetch(`${service.address}/file/content`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ project_id: PROJECT, digest: digests.get(content) }),
    })
    const length = response.headers.get('content-length')
    const body = await response.arrayBuffer().then(
      (bytes) => Buffer.from(bytes),
      () => 'cut',
    )
    return { status: response.status, length, body }
  }
  const health = async () => JSON.parse((await service.send('GET', '/health')).text) as object

  for (const [what, content] of [
    ['large', large],
    ['small', small],
  ] as const)
    for (const [how, damage] of [
      ['has another byte', (bytes: Buffer) => bytes.fill(bytes[999]! ^ 1, 999, 1_000)],
      ['is empty', () => Buffer.alloc(0)],
      ['is cut', (bytes: Buffer) => bytes.subarray(0, -1)],
    ] as const)
      it(`never answers a ${what} file as whole when it ${how}, and names it until it is restored`, async () => {
        const path = pathOf(content)
        writeFileSync(path, damage(Buffer.from(content)))

        const { status, body } = await read(content)

        if (status === 200) assert.equal(body, 'cut')
        else assert.deepEqual([status, /differs from its digest/.test(String(body))], [409, true])
        const name = sha256(content)
        assert.match(service.output(), new RegExp(`"event":"blobs.damaged".*${name}`))
        assert.match(JSON.stringify(await health()), new RegExp(`"degraded".*"files":"[^"]*${name}`))

        writeFileSync(path, content)
        const restored = await read(content)
        assert.deepEqual([restored.length, restored.body], [String(content.length), content])
        assert.deepEqual(await health(), { status: 'ok' })
      })

  it('names a file that is missing, until it is stored again', async () => {
    for (const content of [large, small]) {
      rmSync(pathOf(content))

      const { status, body } = await read(content)

      assert.equal(status, 409)
      assert.match(String(body), new RegExp(`The stored content ${sha256(content)} is missing; restore`))
      await store(content)
      assert.deepEqual((await read(content)).body, content)
    }
  })

  it('replaces damaged content when it is stored again', async () => {
    for (const content of [large, small]) {
      writeFileSync(pathOf(content), 'x')
      await store(content)
      assert.deepEqual(readFileSync(pathOf(content)), content)
    }
  })
})

describe('a service that has lost values of secrets', () => {
  let service: RunningService
  before(async () => {
    service = await startRunningService()
    for (const name of ['LOST', 'KEPT']) await put(name, 'value')
    await service.send('DELETE', `${PATH}/KEPT`)
    await put('OTHER', 'value')
  })
  after(() => service.remove())

  const PATH = '/api/teams/default/secrets'
  const within = (name: string) => join(service.dataDirectory, name)
  const put = async (name: string, value: string) =>
    assert.equal((await service.send('PUT', `${PATH}/${name}`, { value })).status, 200)
  const health = async () => (await service.send('GET', '/health')).text
  const listed = async () =>
    (
      JSON.parse((await service.send('GET', PATH)).text) as {
        data: readonly { name: string; problem?: string }[]
      }
    ).data.map(({ name, problem }) => [name, problem])

  /** A service that was stopped at once fills its read models when it starts again. */
  const becomesHealthy = () => until(async () => (await health()) === '{"status":"ok"}')

  const isMissing = [
    ['LOST', 'The value is missing'],
    ['OTHER', 'The value is missing'],
  ]
  for (const [how, damage] of [
    ['is gone', () => rmSync(within('secrets.db'))],
    ['is empty', () => writeFileSync(within('secrets.db'), '')],
  ] as const)
    it(`names them when secrets.db ${how}`, async () => {
      await service.stop()
      cpSync(within('secrets.db'), within('kept.db'))
      damage()
      await service.restart()

      assert.deepEqual(await listed(), isMissing)
      assert.match(await health(), /"degraded".*"secrets":"/)
      assert.match(service.output(), /"event":"secrets.unreadable","team":"default","name":"LOST"/)

      await service.stop()
      cpSync(within('kept.db'), within('secrets.db'))
      await service.restart()
      assert.deepEqual(await listed(), [
        ['LOST', undefined],
        ['OTHER', undefined],
      ])
      await becomesHealthy()
    })

  it('names secrets that were encrypted with another master key, until they are stored again', async () => {
    const key = readFileSync(within('master-keys'), 'utf8')
    const at = key.indexOf(':') + 5
    chmodSync(within('master-keys'), 0o600)
    writeFileSync(within('master-keys'), key.slice(0, at) + (key[at] === 'A' ? 'B' : 'A') + key.slice(at + 1))
    await service.restart()

    assert.deepEqual(await listed(), [
      ['LOST', 'The value cannot be decrypted'],
      ['OTHER', 'The value cannot be decrypted'],
    ])
    assert.match(await health(), /"degraded".*"secrets":"/)
    for (const name of ['LOST', 'OTHER']) await put(name, 'another')
    await becomesHealthy()
  })

  it('names the file when secrets.db cannot be opened', async () => {
    await service.stop()
    rmSync(within('secrets.db'))
    mkdirSync(within('secrets.db'))
    await assert.rejects(service.restart(), /secrets\.db: unable to open/)
  })
})
