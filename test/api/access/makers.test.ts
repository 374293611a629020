import assert from 'node:assert/strict'
import { MOST_KEYS, MOST_SESSIONS } from '../../../src/domain/access/decider.js'
import { ACCESS_STREAM } from '../../../src/domain/access/events.js'
import { instantOf } from '../../../src/kernel/codec/instant.js'
import { newEvent } from '../../../src/kernel/event.js'
import { arbitraryNewKey } from '../../unit/domain/access/arbitrary.js'
import { arbitraryCause, failureOf, givenTeams, somePorts } from './given.js'

const KEYS = '/api/users/me/api-keys'
const HOUR_MS = 3_600_000

/** A service with a clock that the test sets. */
const givenClock = async () => {
  const start = Date.parse('2026-03-01T00:00:00Z')
  let hours = 0
  const clock = { now: () => new Date(start + hours * HOUR_MS) }
  const service = await givenTeams({ ...somePorts(), clock })
  const at = (hour: number) => instantOf(new Date(start + hour * HOUR_MS))
  return { ...service, at, setHours: (to: number) => void (hours = to) }
}

describe('what a key made', () => {
  it('names the key or session that made it', async () => {
    const { as, alice, signIn, stored } = await givenTeams()
    const { token } = await signIn(alice)
    const session = await as(token).get('/api/sessions')
    const made = await as(token).post(KEYS, { name: 'from the page' })
    const [first, second] = (await as(alice).get(KEYS)).data
    const issued = (await stored()).map(({ data }) => data)
    const current = (session as unknown as { session: { id: string; made_by: string } }).session
    assert.equal(current.made_by, [first!, second!].find(({ id }) => id !== made.id)!.id)
    assert.equal(issued.find((data) => data['key_id'] === made.id)!['made_by'], current.id)
    assert.equal(made.made_by, current.id)
  })

  it('ends a session with its key, and leaves the keys that it made unless asked', async () => {
    const { as, alice, signIn } = await givenTeams()
    const stolen = await as(alice).post(KEYS, {})
    const session = await signIn(stolen.api_key)
    const kept = await as(session.token).post(KEYS, {})
    assert.ok(session.isSignedIn())
    const listed = (await as(alice).get(KEYS)).data.find(({ id }) => id === stolen.id)!
    assert.equal(listed.made, 2)
    assert.deepEqual(await as(alice).delete(`${KEYS}/${stolen.id}`), { revoked: 2, still_valid: 1 })
    assert.ok(!session.isSignedIn())
    assert.equal((await as(kept.api_key).get('/api/users/me')).user, 'alice')
  })

  it('is revoked with the key when asked, over several steps and after one of them ended', async () => {
    const { as, alice, signIn } = await givenTeams()
    const first = await as(alice).post(KEYS, {})
    const second = await as(first.api_key).post(KEYS, {})
    const session = await signIn(second.api_key)
    const third = await as(session.token).post(KEYS, { scope: 'training_worker' })
    await as(alice).delete(`${KEYS}/${second.id}`)
    assert.equal((await as(alice).get(KEYS)).data.find(({ id }) => id === third.id)!.made_by, first.id)
    const answer = await as(alice).delete(`${KEYS}/${first.id}`, { cascade: 'true' })
    assert.deepEqual(answer, { revoked: 2, still_valid: 0 })
    assert.equal((await failureOf(as(third.api_key).get('/api/users/me'))).kind, 'unauthenticated')
    assert.equal((await as(alice).get(KEYS)).data.length, 1)
  })

  it('never outlives it', async () => {
    const { as, alice, signIn, at, setHours } = await givenClock()
    const brief = await as(alice).post(KEYS, { expires_at: at(2) })
    const session = await signIn(brief.api_key)
    for (const maker of [brief.api_key, session.token]) {
      assert.equal((await as(maker).post(KEYS, {})).expires_at, at(2))
      assert.equal((await as(maker).post(KEYS, { expires_at: at(1) })).expires_at, at(1))
      const later = await failureOf(as(maker).post(KEYS, { expires_at: at(3) }))
      assert.match(JSON.stringify(later.details), /when the API key of this request expires/)
      const user = `made-by-${maker.slice(-4)}`
      const added = await as(maker).post('/api/teams/red/members', { user, role: 'member' })
      assert.equal(added.expires_at, at(2))
    }
    setHours(1.9)
    assert.ok(session.isSignedIn())
    setHours(2)
    assert.ok(!session.isSignedIn())
  })

  it('can be made without an expiry by a session of a key without one', async () => {
    const { as, alice, signIn } = await givenTeams()
    assert.equal((await as((await signIn(alice)).token).post(KEYS, {})).expires_at, null)
  })

  it('is shown to the administrator, who can revoke it', async () => {
    const { as, alice, bob, admin, signIn } = await givenTeams()
    const session = await signIn(alice)
    const path = '/api/users/alice/api-keys'
    const { data } = await as(admin).get(path)
    const opened = data.find(({ kind }) => kind === 'session')!
    assert.equal(opened.made_by, data.find(({ kind }) => kind === 'key')!.id)
    for (const key of [alice, bob]) {
      assert.equal((await failureOf(as(key).get(path))).kind, 'forbidden')
      assert.equal((await failureOf(as(key).delete(`${path}/${opened.id}`))).kind, 'forbidden')
    }
    const wrong = `/api/users/bob/api-keys/${opened.id}`
    assert.equal((await failureOf(as(admin).delete(wrong))).kind, 'not-found')
    assert.equal((await as(admin).delete(`${path}/${opened.id}`)).revoked, 1)
    assert.ok(!session.isSignedIn())
  })

  it('stays valid where it is the first key of another user, unless the administrator revokes', async () => {
    const { as, alice, admin } = await givenTeams()
    const dave = (await as(alice).post('/api/teams/red/members', { user: 'dave', role: 'member' })).api_key
    const spare = await as(alice).post(KEYS, {})
    const first = (await as(alice).get(KEYS)).data.find(({ id }) => id !== spare.id)!
    const answer = await as(spare.api_key).delete(`${KEYS}/${first.id}`, { cascade: 'true' })
    assert.deepEqual(answer, { revoked: 2, still_valid: 1 })
    assert.equal((await as(dave).get('/api/users/me')).user, 'dave')
    const [ofAdmin] = (await as(admin).get(KEYS)).data
    const other = await as(admin).post(KEYS, {})
    const path = `/api/users/admin/api-keys/${ofAdmin!.id}`
    assert.equal((await failureOf(as(admin).delete(path, { cascade: 'true' }))).kind, 'conflict')
    assert.equal((await as(other.api_key).get('/api/users/me')).user, 'admin')
  })

  it('is nothing for a key of an earlier release, which goes on as before', async () => {
    const { ports, access, as, alice } = await givenTeams()
    const { made_by: _, ...session } = { ...arbitraryNewKey(), kind: 'session', user: 'alice' }
    const expires_at = instantOf(new Date(Date.now() + HOUR_MS))
    const hash = ports.sha256('old-token')
    const issued_at = instantOf(new Date())
    const data = { ...session, hash, issued_at, expires_at }
    const old = newEvent(ports.ids.next(), { type: 'ApiKeyIssued', data }, arbitraryCause())
    const revision = (
      await ports.eventStore.readStream(ACCESS_STREAM, { backwards: true })[Symbol.asyncIterator]().next()
    ).value.revision as bigint
    await ports.eventStore.append(ACCESS_STREAM, revision, [old])
    await access.refresh()
    assert.equal(access.authenticateSession('old-token')?.userId, 'alice')
    assert.equal((await as('old-token').post(KEYS, {})).expires_at, null)
    await as(alice).delete(`${KEYS}/${(await as(alice).get(KEYS)).data[0]!.id}`)
    assert.equal(access.authenticateSession('old-token')?.userId, 'alice')
  })
})

describe('a session of a wrong clock', () => {
  it('is not valid once the clock is right again', async () => {
    const { alice, signIn, setHours } = await givenClock()
    setHours(365 * 24)
    const session = await signIn(alice)
    assert.ok(session.isSignedIn())
    setHours(0)
    assert.ok(!session.isSignedIn())
    await signIn(alice)
    setHours(365 * 24)
    assert.ok(!session.isSignedIn())
  })

  it('is valid where the clocks of two processes differ a little', async () => {
    const { alice, signIn, setHours } = await givenClock()
    setHours(0.05)
    const session = await signIn(alice)
    setHours(0)
    assert.ok(session.isSignedIn())
  })
})

describe('the keys and sessions of a user', () => {
  it('are at most so many, and can be made again once some have ended', async () => {
    const { ports, access, as, alice, signIn, setHours } = await givenClock()
    const issue = async (kind: 'key' | 'session', times: number) => {
      const made_by = access.authenticate(alice)!.keyId
      for (let time = 0; time < times; time += 1) {
        const key_id = `${kind}-${time}`
        const expires_at = kind === 'key' ? null : instantOf(new Date(ports.clock.now().getTime() + HOUR_MS))
        const issued_at = instantOf(ports.clock.now())
        const key = { ...arbitraryNewKey(), key_id, kind, expires_at, issued_at, made_by }
        await access.run({ type: 'IssueApiKey', user: 'alice', key }, arbitraryCause())
      }
    }
    await issue('session', MOST_SESSIONS)
    const signedIn = await failureOf(signIn(alice))
    assert.deepEqual([signedIn.kind, /at most 200 sessions/.test(signedIn.reason)], ['conflict', true])
    setHours(1)
    assert.ok((await signIn(alice)).isSignedIn())
    assert.equal(access.directory().users.get('alice')!.sessionIds.size, 1)
    await issue('key', MOST_KEYS - 1)
    const refused = await failureOf(as(alice).post(KEYS, {}))
    assert.deepEqual([refused.kind, /at most 1000 API keys/.test(refused.reason)], ['conflict', true])
    await as(alice).delete(`${KEYS}/key-7`)
    await as(alice).post(KEYS, {})
    assert.equal(access.directory().keys.get('key-7'), undefined)
  })
})
