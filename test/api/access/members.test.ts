import assert from 'node:assert/strict'
import { failureOf, givenTeams } from './given.js'

const RED = '/api/teams/red/members'

describe('POST /api/teams/{team}/members', () => {
  it("answers a new user's key exactly once, and it is valid at once", async () => {
    const { as, alice } = await givenTeams()
    const added = await as(alice).post(RED, { user: 'dave', role: 'member' })
    assert.deepEqual(
      { ...added, api_key: '' },
      { user: 'dave', roles: ['member'], api_key: '', expires_at: null },
    )
    assert.equal((await as(added.api_key).get('/api/users/me')).user, 'dave')
    assert.equal((await as(alice).post(RED, { user: 'dave', role: 'member' })).api_key, null)
  })

  it('takes a set of roles, and replaces those before', async () => {
    const { as, alice, bob } = await givenTeams()
    const roles = ['registry_administrator', 'member', 'member']
    const added = await as(alice).post(RED, { user: 'bob', roles })
    assert.deepEqual(added.roles, ['member', 'registry_administrator'])
    assert.deepEqual((await as(bob).get('/api/users/me')).teams, [{ team: 'red', roles: added.roles }])
  })

  it('writes nothing the second time', async () => {
    const { as, alice, stored } = await givenTeams()
    const before = (await stored()).length
    await as(alice).post(RED, { user: 'bob', role: 'member' })
    assert.equal((await stored()).length, before)
  })

  it('refuses other bodies', async () => {
    const { as, alice } = await givenTeams()
    const bodies = [
      { user: 'x' },
      { user: 'x', roles: [] },
      { user: 'x', role: 'owner' },
      { user: 'x', role: 'member', roles: ['member'] },
      { user: 'x', role: 'member', api_key: 'mine' },
      { user: 'with space', role: 'member' },
      { user: 'system', role: 'member' },
      { user: 'x'.repeat(129), role: 'member' },
      { role: 'member' },
    ]
    for (const body of bodies)
      assert.equal((await failureOf(as(alice).post(RED, body))).kind, 'invalid', JSON.stringify(body))
  })

  it('admits users of other teams only for the administrator', async () => {
    const { as, admin, alice, carol } = await givenTeams()
    const body = { user: 'carol', role: 'member' }
    assert.equal((await failureOf(as(alice).post(RED, body))).kind, 'forbidden')
    assert.equal((await as(admin).post(RED, body)).api_key, null)
    assert.deepEqual(
      (await as(carol).get('/api/users/me')).teams.map(({ team }) => team),
      ['blue', 'red'],
    )
  })
})

describe('the members of a team', () => {
  it('are listed page by page', async () => {
    const { as, admin, alice } = await givenTeams()
    const bob = { user: 'bob', roles: ['member'] }
    const first = { user: 'alice', roles: ['team_administrator'] }
    assert.deepEqual(await as(alice).get(RED), { data: [first, bob], next: null })
    assert.deepEqual(await as(admin).get(RED, { limit: '1' }), { data: [first], next: 'alice' })
    assert.deepEqual(await as(admin).get(RED, { limit: '1', after: 'alice' }), { data: [bob], next: null })
  })

  it('lose it when they are removed, again and again', async () => {
    const { as, alice, bob, stored } = await givenTeams()
    assert.deepEqual(await as(alice).delete(`${RED}/bob`), {})
    const before = (await stored()).length
    assert.deepEqual(await as(alice).delete(`${RED}/bob`), {})
    assert.equal((await stored()).length, before)
    assert.deepEqual((await as(bob).get('/api/users/me')).teams, [])
    assert.equal((await failureOf(as(alice).delete(`${RED}/nobody`))).kind, 'not-found')
  })

  it('may come back', async () => {
    const { as, alice, bob } = await givenTeams()
    await as(alice).delete(`${RED}/bob`)
    await as(alice).post(RED, { user: 'bob', role: 'project_administrator' })
    assert.deepEqual((await as(bob).get('/api/users/me')).teams, [
      { team: 'red', roles: ['project_administrator'] },
    ])
  })

  it('may lose their last administrator', async () => {
    const { as, admin, alice } = await givenTeams()
    await as(alice).delete(`${RED}/alice`)
    assert.deepEqual((await as(admin).get(RED)).data, [{ user: 'bob', roles: ['member'] }])
  })
})

describe('a team of others', () => {
  const asks = [
    ['get', ''],
    ['post', ''],
    ['delete', '/carol'],
    ['delete', '/nobody'],
  ] as const

  it('is answered exactly as one that does not exist', async () => {
    const { ask, alice, bob } = await givenTeams()
    for (const key of [alice, bob])
      for (const [method, rest] of asks) {
        const body = { user: 'carol', role: 'member' }
        const failures = ['blue', 'default', 'nowhere', '__proto__', '%00'].map((team) =>
          failureOf(ask(key, method, `/api/teams/${team}/members${rest}`, { body })),
        )
        for (const { kind, reason, details } of await Promise.all(failures)) {
          assert.equal(kind, 'not-found')
          assert.equal(reason, 'Team not found, or the API key has no access to it.')
          assert.deepEqual(details, { body: {} })
        }
      }
  })

  it('differs from an own team where a right is missing: that names the right', async () => {
    const { ask, bob } = await givenTeams()
    for (const [method, rest] of asks) {
      if (method === 'get') continue
      const body = { user: 'dave', role: 'member' }
      const failure = await failureOf(ask(bob, method, `${RED}${rest}`, { body }))
      assert.equal(failure.kind, 'forbidden')
      assert.match(failure.reason, /team_administrator/)
    }
  })
})
