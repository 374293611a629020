import assert from 'node:assert/strict'
import { ACCESS_STREAM } from '../../../src/domain/access/events.js'
import { keysOf } from '../../../src/domain/access/look-ups.js'
import { instantOf } from '../../../src/kernel/codec/instant.js'
import { until } from '../../support/until.js'
import { failureOf, givenTeams } from './given.js'

const KEYS = '/api/users/me/api-keys'

describe('API keys', () => {
  it('are shown once, when they are made', async () => {
    const { as, alice } = await givenTeams()
    const made = await as(alice).post(KEYS, { name: 'laptop' })
    assert.match(made.api_key, /^tt_[A-Za-z0-9]{37}$/)
    assert.equal(made.prefix, made.api_key.slice(0, 8))
    assert.equal(made.name, 'laptop')
    assert.equal((await as(made.api_key).get('/api/users/me')).user, 'alice')
    const listed = await as(alice).get(KEYS)
    assert.equal(listed.data.length, 2)
    for (const key of listed.data)
      assert.deepEqual(Object.keys(key).sort(), [
        'created_at',
        'expires_at',
        'id',
        'kind',
        'last_used_at',
        'made',
        'made_by',
        'name',
        'prefix',
        'scope',
      ])
    assert.ok(!JSON.stringify(listed).includes(made.api_key))
  })

  it('have the time of their last use', async () => {
    const { as, alice, ports } = await givenTeams()
    const made = await as(alice).post(KEYS, {})
    const lastUse = async () =>
      (await as(alice).get(KEYS)).data.find(({ id }) => id === made.id)!.last_used_at
    assert.equal(await lastUse(), null)
    const before = instantOf(ports.clock.now())
    await as(made.api_key).get('/api/users/me')
    await until(async () => (await lastUse()) !== null)
    assert.ok((await lastUse())! >= before)
    for (let use = 0; use < 5; use += 1) await as(made.api_key).get('/api/users/me')
    const recorded = []
    for await (const { type, data } of ports.eventStore.readStream(ACCESS_STREAM))
      if (type === 'ApiKeyUsed' && data['key_id'] === made.id) recorded.push(data)
    assert.equal(recorded.length, 1)
  })

  it('are valid until they expire, and are listed until they are revoked', async () => {
    const { as, alice, ports } = await givenTeams()
    const inMs = (ms: number) => instantOf(new Date(ports.clock.now().getTime() + ms))
    const expires_at = inMs(300)
    const made = await as(alice).post(KEYS, { expires_at })
    assert.deepEqual([made.kind, made.expires_at], ['key', expires_at])
    assert.equal((await as(made.api_key).get('/api/users/me')).user, 'alice')
    await until(() => ports.clock.now() > new Date(expires_at))
    assert.equal((await failureOf(as(made.api_key).get('/api/users/me'))).kind, 'unauthenticated')
    const listed = await as(alice).get(KEYS)
    assert.equal(listed.data.find(({ id }) => id === made.id)!.expires_at, expires_at)
    for (const wrong of [inMs(0), inMs(-1000), '2026-13-01T00:00:00Z', 'soon', 5, {}])
      assert.equal((await failureOf(as(alice).post(KEYS, { expires_at: wrong }))).kind, 'invalid')
  })

  it('may be without a name', async () => {
    const { as, alice } = await givenTeams()
    assert.equal((await as(alice).post(KEYS, {})).name, null)
    assert.equal((await failureOf(as(alice).post(KEYS, { name: 'x'.repeat(129) }))).kind, 'invalid')
    assert.equal((await failureOf(as(alice).post(KEYS, { user: 'bob' }))).kind, 'invalid')
  })

  it('are listed page by page', async () => {
    const { as, alice } = await givenTeams()
    for (let i = 0; i < 4; i += 1) await as(alice).post(KEYS, {})
    const { data, next } = await as(alice).get(KEYS, { limit: '3' })
    const rest = await as(alice).get(KEYS, { limit: '3', after: next! })
    assert.equal(rest.next, null)
    assert.equal(new Set([...data, ...rest.data].map(({ id }) => id)).size, 5)
  })

  it('are void at once when revoked, and revoking twice writes nothing', async () => {
    const { as, alice, stored } = await givenTeams()
    const made = await as(alice).post(KEYS, {})
    assert.deepEqual(await as(made.api_key).delete(`${KEYS}/${made.id}`), { revoked: 1, still_valid: 0 })
    assert.equal((await failureOf(as(made.api_key).get('/api/users/me'))).kind, 'unauthenticated')
    const before = (await stored()).length
    assert.deepEqual(await as(alice).delete(`${KEYS}/${made.id}`), { revoked: 0, still_valid: 0 })
    assert.equal((await stored()).length, before)
    assert.equal((await as(alice).get(KEYS)).data.length, 1)
  })

  it("of others are answered like those that don't exist", async () => {
    const { as, alice, bob, admin } = await givenTeams()
    const { id } = await as(alice).post(KEYS, {})
    for (const key of [bob, admin])
      for (const unknown of [id, 'unknown', '__proto__']) {
        const { kind, reason } = await failureOf(as(key).delete(`${KEYS}/${unknown}`))
        assert.deepEqual([kind, reason], ['not-found', 'API key not found.'])
      }
    assert.equal((await as(bob).get(KEYS)).data.length, 1)
  })

  it('of members are revoked by who administers all their teams', async () => {
    const { as, admin, alice, bob, access, signIn, stored } = await givenTeams()
    const OF_RED = '/api/teams/red/api-keys'
    const keyOf = async (user: string) => (await as(alice).get(OF_RED)).data.find((key) => key.user === user)!
    const session = await signIn(bob)
    const key = await keyOf('bob')
    assert.equal(key.can_revoke, true)
    assert.equal((await failureOf(as(bob).delete(`${OF_RED}/${key.id}`))).kind, 'forbidden')
    assert.deepEqual(await as(alice).delete(`${OF_RED}/${key.id}`), { revoked: 2, still_valid: 0 })
    assert.equal(session.isSignedIn(), false)
    assert.equal((await failureOf(as(bob).get('/api/users/me'))).kind, 'unauthenticated')
    const { type, metadata } = (await stored()).at(-1)!
    assert.deepEqual([type, metadata.actor], ['ApiKeyRevoked', 'alice'])
    assert.deepEqual(await as(alice).delete(`${OF_RED}/${key.id}`), { revoked: 0, still_valid: 0 })

    const [carols] = [...keysOf(access.directory(), 'carol')]
    const ofCarol = () => failureOf(as(alice).delete(`${OF_RED}/${carols!.key_id}`))
    assert.equal((await ofCarol()).kind, 'not-found')
    for (const user of ['carol', 'admin'])
      await as(admin).post('/api/teams/red/members', { user, role: 'member' })
    assert.equal((await ofCarol()).kind, 'forbidden')
    const ofAdmin = await keyOf('admin')
    assert.deepEqual([ofAdmin.can_revoke, (await keyOf('carol')).can_revoke], [false, false])
    assert.equal((await failureOf(as(alice).delete(`${OF_RED}/${ofAdmin.id}`))).kind, 'forbidden')
    assert.deepEqual(await as(admin).delete(`${OF_RED}/${carols!.key_id}`), { revoked: 1, still_valid: 0 })
  })

  it('of the administrator cannot all be revoked', async () => {
    const { as, admin } = await givenTeams()
    const id = (await as(admin).get(KEYS)).data[0]!.id
    assert.equal((await failureOf(as(admin).delete(`${KEYS}/${id}`))).kind, 'conflict')
    const ofWorker = await as(admin).post(KEYS, { scope: 'training_worker' })
    assert.equal((await failureOf(as(admin).delete(`${KEYS}/${id}`))).kind, 'conflict')
    await as(admin).delete(`${KEYS}/${ofWorker.id}`)
    const expires_at = '2099-01-01T00:00:00.000000Z'
    const expiring = await as(admin).post(KEYS, { expires_at })
    assert.equal((await failureOf(as(admin).delete(`${KEYS}/${id}`))).kind, 'conflict')
    await as(admin).delete(`${KEYS}/${expiring.id}`)
    const { api_key } = await as(admin).post(KEYS, {})
    await as(admin).delete(`${KEYS}/${id}`)
    assert.equal((await as(api_key).get('/api/users/me')).user, 'admin')
  })

  it('are made once for one Idempotency-Key, and shown the first time only', async () => {
    const { as, alice, bob } = await givenTeams()
    const headers = { 'idempotency-key': 'once' }
    const first = await as(alice).post(KEYS, {}, headers)
    const again = await as(alice).post(KEYS, {}, headers)
    assert.deepEqual(again, { ...first, api_key: null })
    assert.notEqual((await as(bob).post(KEYS, {}, headers)).id, first.id)
    const other = await failureOf(as(alice).post(KEYS, { name: 'other' }, headers))
    assert.equal(other.kind, 'conflict')
    const narrower = await failureOf(as(alice).post(KEYS, { scope: 'training_worker' }, headers))
    assert.equal(narrower.kind, 'conflict')
    const shorter = { expires_at: '2099-01-01T00:00:00Z' }
    assert.equal((await failureOf(as(alice).post(KEYS, shorter, headers))).kind, 'conflict')
    await as(alice).delete(`${KEYS}/${first.id}`)
    const late = await failureOf(as(alice).post(KEYS, {}, headers))
    assert.match(late.reason, /for an API key that is revoked/)
    for (const bad of ['', 'x'.repeat(256)])
      assert.equal((await failureOf(as(alice).post(KEYS, {}, { 'idempotency-key': bad }))).kind, 'invalid')
  })
})

describe('the log', () => {
  it('never holds a key', async () => {
    const { as, admin, alice, bob, carol, stored } = await givenTeams()
    const made = await as(alice).post(KEYS, { name: 'canary' })
    await as(alice).delete(`${KEYS}/${made.id}`)
    const log = JSON.stringify(await stored(), (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    for (const key of [admin, alice, bob, carol, made.api_key]) {
      assert.ok(!log.includes(key))
      assert.ok(!log.includes(key.slice(3)))
      assert.ok(!log.includes(Buffer.from(key).toString('base64')))
    }
  })
})
