import assert from 'node:assert/strict'
import { startTestService, type TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'

interface Listed {
  readonly data: readonly {
    readonly id: string
    readonly user: string
    readonly last_used_at: string | null
  }[]
  readonly next: string | null
}

describe('the API keys of a team', () => {
  let service: TestService
  const keys: Record<string, string> = {}
  before(async () => {
    service = await startTestService()
    for (const team of ['acme', 'rival']) await service.teams.create(team)
    for (const [team, user, role] of [
      ['acme', 'ada', 'team_administrator'],
      ['acme', 'mira', 'member'],
      ['rival', 'eve', 'team_administrator'],
    ] as const) {
      const added = accepted(await service.post(`/api/teams/${team}/members`, { user, role }))
      keys[user] = (added as { api_key: string }).api_key
    }
  })
  after(() => service.stop())

  const list = (key: string | undefined, query = '') =>
    service.send('GET', `/api/teams/acme/api-keys${query}`, undefined, key === undefined ? {} : { key })

  it('are listed for its administrators, with their users and never the keys themselves', async () => {
    const answer = await list(keys['ada'])
    const { data } = accepted(answer) as unknown as Listed
    assert.deepEqual(data.map(({ user }) => user).sort(), ['ada', 'mira'])
    for (const key of Object.values(keys)) assert.equal(JSON.stringify(data).includes(key), false)
  })

  it('are listed in pages', async () => {
    const { data, next } = accepted(await list(undefined, '?limit=1')) as unknown as Listed
    const rest = accepted(await list(undefined, `?limit=1&after=${next}`)) as unknown as Listed
    assert.equal(rest.next, null)
    assert.equal(new Set([...data, ...rest.data].map(({ id }) => id)).size, 2)
  })

  it('are refused to members, and not found for other teams', async () => {
    assert.equal((await list(keys['mira'])).status, 403)
    assert.equal((await list(keys['eve'])).status, 404)
  })
})
