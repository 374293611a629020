import assert from 'node:assert/strict'
import { failureOf, givenService, givenTeams, type Said } from './given.js'

describe('POST /api/teams', () => {
  it('creates a team for the administrator', async () => {
    const { as, admin } = await givenService()
    assert.deepEqual(await as(admin).post('/api/teams', { name: 'red' }), { name: 'red' })
    assert.deepEqual((await as(admin).get('/api/teams')).data, [{ name: 'default' }, { name: 'red' }])
  })

  it('answers a conflict with the name for one that is taken, and writes nothing', async () => {
    const { as, admin, stored } = await givenService()
    await as(admin).post('/api/teams', { name: 'red' })
    const before = (await stored()).length
    const { kind, details } = await failureOf(as(admin).post('/api/teams', { name: 'red' }))
    assert.equal(kind, 'conflict')
    assert.deepEqual(details.body, { name: 'red' })
    assert.equal((await stored()).length, before)
  })

  it('is forbidden to others', async () => {
    const { as, alice } = await givenTeams()
    assert.equal((await failureOf(as(alice).post('/api/teams', { name: 'mine' }))).kind, 'forbidden')
  })

  it('refuses names that paths of the service begin with', async () => {
    const { as, admin } = await givenService()
    for (const name of ['api', 'V1', '-', 'assets', 'call'])
      assert.equal((await failureOf(as(admin).post('/api/teams', { name }))).kind, 'conflict')
  })

  it('refuses other bodies', async () => {
    const { as, admin } = await givenService()
    for (const body of [
      {},
      { name: '' },
      { name: 'a/b' },
      { name: 1 },
      { name: 'ok', colour: 'red' },
      [],
      null,
    ])
      assert.equal((await failureOf(as(admin).post('/api/teams', body))).kind, 'invalid')
  })

  it('says where the event stands', async () => {
    const { ask, admin, stored } = await givenService()
    const { position } = await ask(admin, 'post', '/api/teams', { body: { name: 'red' } })
    assert.equal(position, (await stored()).at(-1)?.position)
  })
})

describe('GET /api/teams', () => {
  it("lists the caller's own teams, and all to the administrator", async () => {
    const { as, admin, alice, carol } = await givenTeams()
    const names = async (key: string) => (await as(key).get('/api/teams')).data.map(({ name }) => name)
    assert.deepEqual(await names(alice), ['red'])
    assert.deepEqual(await names(carol), ['blue'])
    assert.deepEqual(await names(admin), ['blue', 'default', 'red'])
  })

  it('goes page by page through all of them', async () => {
    const { as, admin, access } = await givenService()
    const principal = {
      userId: 'admin',
      keyId: 'k',
      scope: 'all' as const,
      administrator: true,
      teams: [],
      administers: [],
    }
    const cause = { correlationId: 'c', causationId: 'c', actor: 'admin' }
    for (let i = 0; i < 24; i += 1) await access.ensureTeam(principal, `t${i}`, cause)
    const seen: string[] = []
    let after: string | null = ''
    for (let pages = 0; after !== null; pages += 1) {
      assert.ok(pages < 10)
      const { data, next }: Said = await as(admin).get('/api/teams', { limit: '5', after })
      seen.push(...data.map(({ name }) => name))
      after = next
    }
    assert.deepEqual(seen, [...access.directory().teams.keys()].sort())
    assert.equal(seen.length, 25)
  })

  it('refuses a page it cannot give', async () => {
    const { as, admin } = await givenService()
    const odd = [
      { limit: '0' },
      { limit: '1001' },
      { limit: '-1' },
      { limit: 'x' },
      { limit: '' },
      { limit: '1e2' },
    ]
    for (const query of [...odd, { limit: ['1', '2'] }, { after: ['a', 'b'] }]) {
      const { kind, details } = await failureOf(as(admin).get('/api/teams', query))
      assert.equal(kind, 'invalid')
      assert.deepEqual(details.problems?.[0]?.loc, ['query', Object.keys(query)[0]])
    }
  })
})

describe('GET /api/users/me', () => {
  it('tells whom the key stands for', async () => {
    const { as, admin, alice } = await givenTeams()
    assert.deepEqual(await as(alice).get('/api/users/me'), {
      user: 'alice',
      administrator: false,
      teams: [{ team: 'red', roles: ['team_administrator'] }],
    })
    assert.equal((await as(admin).get('/api/users/me')).administrator, true)
  })
})
