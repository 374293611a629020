import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openKeyRing } from '../../src/adapters/secrets/key-ring.js'
import { openSqliteSecretStore } from '../../src/adapters/secrets/sqlite-secret-store.js'
import { COUNTS } from '../counts.js'
import { spellingsOf } from '../unit/adapters/secrets/given.js'
import { tallytree } from '../support/command.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import type { Answered } from '../support/client.js'

const PATH = '/api/teams/default/secrets'
const ROUNDS = COUNTS.secretKills

const put = (service: RunningService, name: string, value: string) =>
  service.send('PUT', `${PATH}/${name}`, { value })

/** What lies in the store of a service, seen from another process that has its keys. */
const storeOf = async ({ dataDirectory }: RunningService, given: Parameters<typeof openKeyRing>[0] = []) =>
  openSqliteSecretStore(
    join(dataDirectory, 'secrets.db'),
    openKeyRing(given, join(dataDirectory, 'master-keys')),
  )

const filesIn = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const versionIn = (answer: Answered): number => answer.json<{ version: number }>().version

describe('a secret value', () => {
  let service: RunningService
  before(async () => {
    service = await startRunningService()
  })
  after(() => service.remove())

  it('shows up in no file, answer or line of the log, as it is, in base64 or in hexadecimal', async () => {
    const canary = `canary-${randomBytes(12).toString('hex')}`
    const name = `N_${canary.slice(7)}`
    const answers: Answered[] = []
    const ask = async (method: string, path: string, body?: unknown, headers = {}) =>
      void answers.push(await service.send(method, path, body, { headers }))

    await ask('PUT', `${PATH}/${name}`, { value: canary }, { 'idempotency-key': 'once' })
    await ask('PUT', `${PATH}/${name}`, { value: canary }, { 'idempotency-key': 'once' })
    await ask('PUT', `${PATH}/${name}`, { value: `not ${canary}` }, { 'idempotency-key': 'once' })
    await ask('PUT', `${PATH}/${name}`, { value: `${canary}${canary}` })
    await ask('PUT', `${PATH}/${name}`, { value: `${canary}\0` })
    await ask('PUT', `${PATH}/${name}`, { value: [canary] })
    await ask('PUT', `${PATH}/${name}`, `{"value": "${canary}`)
    await ask('PUT', `${PATH}/not-a-name`, { value: canary })
    await ask('PUT', `/api/teams/unknown/secrets/${name}`, { value: canary })
    await ask('GET', PATH)
    await ask('GET', '/api/events')
    await ask('GET', '/metrics')
    await ask('POST', '/calls/query', { project_id: 'default/p' })
    const wrongKey = await service.send('PUT', `${PATH}/${name}`, { value: canary }, { key: 'wrong' })
    answers.push(wrongKey)
    await service.kill('SIGKILL')
    await service.restart()
    await ask('DELETE', `${PATH}/${name}`)
    assert.equal(await service.stop(), 0)

    const files = filesIn(service.dataDirectory)
    assert.ok(files.some((file) => file.endsWith('secrets.db')))
    const texts = [
      service.output(),
      ...answers.map(({ text, headers }) => `${text}${JSON.stringify([...headers])}`),
      ...files.map((file) => readFileSync(file, 'latin1')),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 409, 200, 422, 422, 422, 422, 404, 200, 200, 200, 200, 401, 200],
    )
    for (const spelling of spellingsOf(canary))
      for (const text of texts) assert.ok(!text.includes(spelling), spelling)
    await service.restart()
  })

  it('that was acknowledged is there after a kill, and nothing else stays behind', async () => {
    /** By name, what holds by all that was answered. */
    const known = new Map<string, Map<number, string>>()
    const sent = new Set<string>()
    const step = async (name: string, destroys: boolean) => {
      const value = randomUUID()
      sent.add(value)
      if (destroys) {
        // Until it is answered, nobody knows what holds.
        known.delete(name)
        assert.ok([200, 404].includes((await service.send('DELETE', `${PATH}/${name}`)).status))
        return
      }
      const version = versionIn(await put(service, name, value))
      known.set(name, (known.get(name) ?? new Map<number, string>()).set(version, value))
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const load = async (worker: number) => {
        for (let n = 0; ; n += 1) await step(`K_${round}_${worker}_${n % 3}`, n % 7 === 6)
      }
      const loads = [0, 1, 2].map((worker) =>
        assert.rejects(load(worker), { name: 'TypeError', message: /fetch failed|terminated/ }),
      )
      await sleep(200 + Math.random() * 400)
      await service.kill('SIGKILL')
      await Promise.all(loads)
      await service.restart()
    }

    const { data } = (await service.send('GET', `${PATH}?limit=1000`)).json<{
      data: { name: string; version: number }[]
    }>()
    const listed = new Map(data.map(({ name, version }) => [name, version]))
    assert.equal(await service.stop(), 0)
    const store = await storeOf(service)
    for (const [name, versions] of known)
      for (const [version, value] of versions)
        assert.equal(await store.get({ team: 'default', name, version }), value, `${name} ${version}`)
    for (const { name } of await store.names('default', { after: undefined, limit: 1000 })) {
      const versions = await store.versions({ team: 'default', name })
      assert.equal(versions.at(-1)?.version, listed.get(name), name)
      for (const { version, confirmed } of versions) {
        assert.ok(confirmed, `${name} ${version} is known to the log`)
        assert.ok(sent.has((await store.get({ team: 'default', name, version })) ?? ''))
      }
    }
    assert.ok(known.size > 0)
    await store.close()
    await service.restart()
  })

  it('goes over to a new key while the service runs, which then needs the old one no more', async () => {
    const made = await put(service, 'ROTATED', 'a value of before')
    const young = { id: 'young', base64: randomBytes(32).toString('base64').slice(0, 43) }
    const ring = { TALLYTREE_MASTER_KEYS: `young:${young.base64}=` }
    await service.restart(ring)

    const { code, stdout, stderr } = await tallytree(['secrets', 'reencrypt'], {
      ...ring,
      TALLYTREE_DATA_DIR: service.dataDirectory,
    })

    assert.equal(code, 0, stderr)
    assert.match(stdout, /^re-encrypted [1-9]\d* values with the master key young; 0 already were\n$/)
    assert.equal((await put(service, 'ROTATED', 'another value')).status, 200)
    const store = await openSqliteSecretStore(
      join(service.dataDirectory, 'secrets.db'),
      openKeyRing([young], '/nowhere/master-keys'),
    )
    assert.deepEqual(await store.missingKeys(), [])
    const secret = { team: 'default', name: 'ROTATED', version: versionIn(made) }
    assert.equal(await store.get(secret), 'a value of before')
    await store.close()
  })

  it('under a key that is missing is told of at the start, by the id of the key, and again when it is needed', async () => {
    const lost = `lost:${randomBytes(32).toString('base64')}`
    const headers = { 'idempotency-key': 'again' }
    const again = () => service.send('PUT', `${PATH}/LOST`, { value: 'value' }, { headers })
    await service.restart({ TALLYTREE_MASTER_KEYS: lost })
    assert.equal((await again()).status, 200)

    await service.restart({ TALLYTREE_MASTER_KEYS: `found:${randomBytes(32).toString('base64')}` })
    assert.match(service.output(), /"event":"secrets.keys_missing","keys":\[[^\]]*"lost"/)
    const answer = await again()
    assert.equal(answer.status, 503)
    assert.match(
      answer.text,
      /version 1 of the secret LOST .* with the master key \\"lost\\", which is not in the/,
    )
    const { code, stderr } = await tallytree(['secrets', 'reencrypt'], {
      TALLYTREE_DATA_DIR: service.dataDirectory,
      TALLYTREE_MASTER_KEYS: `found:${randomBytes(32).toString('base64')}`,
    })
    assert.equal(code, 1)
    assert.match(stderr, /1 values encrypted with the master key lost were skipped/)

    const without = await tallytree(['secrets', 'reencrypt'], { TALLYTREE_DATA_DIR: '/nowhere' })
    assert.equal(without.code, 2)
    assert.match(without.stderr, /\/nowhere does not contain secrets/)
  })
})
