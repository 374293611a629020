import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Role } from '../../src/domain/access/roles.js'
import type { JsonObject } from '../../src/kernel/json/json.js'
import type { TestService } from '../support/service.js'
import { accepted, reasonOf, textIn } from './calls/given.js'
import { endpointsOf } from './http/endpoints.js'
import type { Ask } from './requests-of-tenants.js'
import { isPrivate } from './http/private-answers.js'
import { sharedService } from './shared-service.js'
import { anUpstream } from './gateway/given.js'
import { anAutomation, aWebhook, givenTeam, OF_WEBHOOKS } from './webhooks/given.js'

const PRINCIPALS = {
  'team administrator': 'team_administrator',
  'project administrator': 'project_administrator:project',
  'registry administrator': 'registry_administrator:models',
  member: 'member',
} as const satisfies Readonly<Record<string, Role>>
type Principal = keyof typeof PRINCIPALS
const ALL = Object.keys(PRINCIPALS) as Principal[]
const ADMINISTRATORS: readonly Principal[] = [
  'team administrator',
  'project administrator',
  'registry administrator',
]
const TEAM: readonly Principal[] = ['team administrator']
/** Only the administrator of the service. */
const NONE: readonly Principal[] = []

/** Who may use an endpoint, and a valid request to it. Every member may use all others. */
const NEEDS: Readonly<Record<string, readonly [who: readonly Principal[], ask: (team: string) => Ask]>> = {
  'POST /api/admin/rebuilds': [NONE, () => ({})],
  'GET /api/admin/rebuilds': [NONE, () => ({})],
  'GET /api/admin/rebuilds/{id}': [NONE, () => ({})],
  'POST /api/admin/prices': [NONE, () => ({ body: { version: '1', source: 'a test', prices: [] } })],
  'GET /api/admin/digests': [NONE, () => ({})],
  'GET /api/blobs/{digest}': [NONE, () => ({})],
  'GET /api/log/tile/entries/{path}': [NONE, () => ({})],
  'POST /api/teams': [NONE, () => ({ body: { name: `team-${randomUUID()}` } })],
  'POST /api/teams/{team}/members': [
    TEAM,
    () => ({ body: { user: `user-${randomUUID()}`, role: 'member' } }),
  ],
  'DELETE /api/teams/{team}/members/{user}': [TEAM, () => ({})],
  'GET /api/teams/{team}/api-keys': [TEAM, () => ({})],
  'DELETE /api/teams/{team}/api-keys/{id}': [TEAM, () => ({})],
  'GET /api/teams/{team}/secrets': [TEAM, () => ({})],
  'PUT /api/teams/{team}/secrets/{name}': [TEAM, () => ({ body: { value: 'value' } })],
  'PATCH /api/teams/{team}/secrets/{name}': [TEAM, () => ({ body: { used_for: ['webhooks'] } })],
  'DELETE /api/teams/{team}/secrets/{name}': [TEAM, () => ({})],
  'PUT /api/teams/{team}/limits': [TEAM, () => ({ body: { scope: { type: 'team' }, concurrency: 1000 } })],
  'GET /api/teams/{team}/limits': [TEAM, () => ({})],
  'POST /api/teams/{team}/limits/write-offs': [TEAM, () => ({ body: { scope: { type: 'team' } } })],
  ...Object.fromEntries(Object.entries(OF_WEBHOOKS).map(([name, ask]) => [name, [TEAM, ask] as const])),
  'GET /api/users/{user}/api-keys': [NONE, () => ({})],
  'DELETE /api/users/{user}/api-keys/{id}': [NONE, () => ({})],
  'GET /api/teams/{team}/webhooks': [ADMINISTRATORS, () => ({})],
  'GET /api/teams/{team}/webhooks/{id}': [ADMINISTRATORS, () => ({})],
  'POST /api/registries': [
    ['team administrator', 'registry administrator'],
    (team) => ({ body: { team, name: 'models' } }),
  ],
  'PUT /api/projects/{entity}/{project}': [
    ['team administrator', 'project administrator'],
    () => ({ body: { usage_reporting: 'own' } }),
  ],
  'DELETE /api/projects/{entity}/{project}': [TEAM, () => ({ query: '?dry_run=true' })],
  'POST /api/projects/{entity}/{project}/erasures': [
    TEAM,
    () => ({ body: { selection: { filter: { call_ids: ['nothing'] } }, reason: 'a test', dry_run: true } }),
  ],
  'GET /api/inference/upstreams': [TEAM, (team) => ({ query: `?team=${team}` })],
  'POST /api/inference/upstreams': [TEAM, (team) => ({ body: anUpstream({ team }) })],
  'POST /api/automations': [
    ['team administrator', 'project administrator'],
    (team) => ({ body: anAutomation(team, { webhook: 'nowhere' }) }),
  ],
  'POST /api/automations/preview': [
    ['team administrator', 'project administrator'],
    (team) => ({ body: { automation: anAutomation(team) } }),
  ],
}

describe('the roles of a team, a project and a registry', () => {
  let service: TestService
  let team: string
  let keys: Record<Principal, string>
  let given: Awaited<ReturnType<typeof givenTeam>>
  before(async () => {
    service = await sharedService()
    given = await givenTeam(service)
    ;({ team } = given)
    const added = ALL.map(async (name) => {
      const body = { user: `${name.replace(' ', '-')}-${team}`, role: PRINCIPALS[name] }
      return [
        name,
        textIn(accepted(await given.send('POST', `/api/teams/${team}/members`, body)), 'api_key'),
      ] as const
    })
    keys = Object.fromEntries(await Promise.all(added)) as Record<Principal, string>
    await given.append(`registry-${team}`, 'RegistryCreated', { team, registry: 'others', id: 'others' })
    accepted(await given.postWebhook(aWebhook({ access_token: 'TOKEN', secret: 'HOOK_KEY' })))
  })

  const send = (as: Principal, method: string, path: string, body?: unknown) =>
    service.send(method, path, body, { key: keys[as] })

  it('decide what each principal may do at every endpoint, whose answers no cache may keep', async () => {
    const wrong: string[] = []
    for (const { method, path, template } of await endpointsOf(service, `${team}/project`)) {
      const name = `${method} ${template}`
      // Opened by a link, not by a key.
      if (template === '/api/content/{link}') continue
      const [allowed, ask] = NEEDS[name] ?? [ALL, () => ({})]
      for (const principal of ALL.toReversed()) {
        const { query = '', body }: Ask = ask(team)
        const { status, headers } = await send(principal, method, `${path}${query}`, body)
        if (!isPrivate(headers)) wrong.push(`${name}: ${JSON.stringify([...headers])}`)
        if (status >= 500 || (status === 403) === allowed.includes(principal))
          wrong.push(`${name} as ${principal}: ${status}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  it('decide who may change a setting as the page about access says', () => {
    const page = readFileSync(new URL('../../docs/access.md', import.meta.url), 'utf8')
    const section = page.split('### Who may change a setting')[1]!.split('\n#')[0]!
    const rows = [...section.matchAll(/^\|[^|]+\| `(\w+ [^`]+)` +\| `(\w+)`/gm)]
    assert.ok(rows.length > 10)
    for (const [, request, role] of rows) {
      const [allowed] = NEEDS[request!] ?? [ALL]
      const least = role!.replace('_', ' ') as Principal
      assert.deepEqual(allowed, least === 'member' ? ALL : [...new Set([...TEAM, least])], request)
    }
  })

  const SCOPES = {
    project: { scope: { type: 'project', project: 'project' } },
    'another project': { scope: { type: 'project', project: 'elsewhere' } },
    registry: { scope: { type: 'registry', registry: 'models' } },
    'another registry': { scope: { type: 'registry', registry: 'others' } },
    team: { scope: { type: 'team' }, event: { type: 'WEBHOOK_DISABLED' }, payload: '{}' },
  }
  const MAY: Readonly<Record<keyof typeof SCOPES, readonly Principal[]>> = {
    project: ['team administrator', 'project administrator'],
    'another project': TEAM,
    registry: ['team administrator', 'registry administrator'],
    'another registry': TEAM,
    team: TEAM,
  }

  for (const [scope, more] of Object.entries(SCOPES))
    it(`decide who creates, previews, changes and deletes automations of scope ${scope}`, async () => {
      const named = (name: string) => anAutomation(team, { ...more, name: `${name} of ${scope}` })
      for (const principal of ALL) {
        const may = MAY[scope as keyof typeof SCOPES].includes(principal)
        const created = await send(principal, 'POST', '/api/automations', named(principal))
        assert.equal(created.status, may ? 200 : 403, principal)
        const preview = await send(principal, 'POST', '/api/automations/preview', {
          automation: named('preview'),
        })
        assert.equal(preview.status, may ? 200 : 403, principal)
        const id = textIn(accepted(await given.postAutomation(named(`for ${principal}`))), 'id')
        const changed = await send(principal, 'PATCH', `/api/automations/${id}`, { description: 'changed' })
        assert.equal(changed.status, may ? 200 : 403, principal)
        const redriven = await send(principal, 'POST', `/api/automations/${id}/redrive`, { dry_run: true })
        assert.equal(redriven.status, may ? 200 : 403, principal)
        assert.equal(
          (await send(principal, 'DELETE', `/api/automations/${id}`)).status,
          may ? 200 : 403,
          principal,
        )
      }
    })

  it('do not let an automation move to a project of others', async () => {
    const id = textIn(accepted(await given.postAutomation(anAutomation(team, { name: 'moving' }))), 'id')
    const change = { scope: { type: 'project', project: 'elsewhere' } }
    const refused = await send('project administrator', 'PATCH', `/api/automations/${id}`, change)
    assert.equal(
      reasonOf(refused, 403),
      `This requires the role project_administrator:elsewhere in team ${team}.`,
    )
  })

  it('let administrators of projects and registries see the name, state and secret names of webhooks', async () => {
    for (const principal of ['project administrator', 'registry administrator'] as const) {
      const listed = accepted(await send(principal, 'GET', `/api/teams/${team}/webhooks`))
      const [webhook] = listed['data'] as JsonObject[]
      const shown = Object.entries(webhook!).filter(([, value]) => value !== null)
      assert.deepEqual(Object.fromEntries(shown), {
        id: webhook!['id'],
        team,
        name: 'hook',
        enabled: true,
        state: 'healthy',
        access_token: 'TOKEN',
        secret: 'HOOK_KEY',
      })
      assert.deepEqual(
        accepted(await send(principal, 'GET', `/api/teams/${team}/webhooks/${textIn(webhook!, 'id')}`)),
        webhook,
      )
    }
    assert.match(
      reasonOf(await send('member', 'GET', `/api/teams/${team}/webhooks`), 403),
      /administrator role in team .*, for the team, a project or a registry/,
    )
  })

  it('let every member read the names of members, and team administrators their roles', async () => {
    const membersAs = async (principal: Principal) =>
      accepted(await send(principal, 'GET', `/api/teams/${team}/members`))['data'] as JsonObject[]
    const seen = await membersAs('member')
    assert.ok(seen.length >= 8)
    assert.ok(seen.every(({ roles }) => roles === null))
    const user = `project-administrator-${team}`
    const found = (await membersAs('team administrator')).find((member) => member['user'] === user)
    assert.deepEqual(found?.['roles'], ['project_administrator:project'])
  })

  it('are replaced and removed at once', async () => {
    const user = `changing-${team}`
    const members = `/api/teams/${team}/members`
    const roles = ['project_administrator:project', 'registry_administrator:models', 'member']
    const key = textIn(accepted(await given.send('POST', members, { user, roles })), 'api_key')
    const create = (scope: object) =>
      service.send('POST', '/api/automations/preview', { automation: anAutomation(team, { scope }) }, { key })
    assert.equal((await create({ type: 'project', project: 'project' })).status, 200)
    assert.equal((await create({ type: 'registry', registry: 'models' })).status, 200)
    accepted(await given.send('POST', members, { user, role: 'registry_administrator:models' }))
    assert.equal((await create({ type: 'project', project: 'project' })).status, 403)
    assert.equal((await create({ type: 'registry', registry: 'models' })).status, 200)
    accepted(await given.send('DELETE', `${members}/${user}`))
    assert.equal((await create({ type: 'registry', registry: 'models' })).status, 404)
  })

  for (const role of [
    'project_administrator:',
    'project_administrator:a/b',
    'team_administrator:x',
    'owner',
    'member:x',
  ])
    it(`refuse ${role}`, async () => {
      const refused = await given.send('POST', `/api/teams/${team}/members`, { user: 'x', role })
      assert.equal(refused.status, 422)
      assert.match(refused.text, /project_administrator:NAME/)
    })
})
