import { randomUUID } from 'node:crypto'
import type { Role } from '../../../src/domain/access/roles.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { SendOptions } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { accepted, textIn } from '../calls/given.js'
import { appendNext } from '../../support/append-next.js'

const ROLES: readonly Role[] = [
  'member',
  'project_administrator',
  'registry_administrator',
  'team_administrator',
]

/** A team of its own with one user a role, a registry and two secrets, and somebody of another team. */
export const givenTeam = async (service: TestService) => {
  const team = `team-${randomUUID().slice(0, 8)}`
  const other = `${team}-other`
  for (const name of [team, other]) await service.teams.create(name).json()
  const keyOf = async (of: string, role: Role): Promise<string> => {
    const added = await service.post(`/api/teams/${of}/members`, { user: `${role}-of-${of}`, role })
    return textIn(accepted(added), 'api_key')
  }
  const keys = Object.fromEntries(
    await Promise.all(ROLES.map(async (role) => [role, await keyOf(team, role)] as const)),
  ) as Record<Role, string>
  const stranger = await keyOf(other, 'team_administrator')
  const key = keys.team_administrator

  const append = (stream: string, type: string, data: JsonObject) =>
    appendNext(service.stores.eventStore, stream, [
      {
        id: randomUUID(),
        type,
        data,
        metadata: { correlationId: 'c', causationId: 'c', actor: 'test', schemaVersion: 1 },
      },
    ])
  for (const name of ['TOKEN', 'HOOK_KEY'])
    await append(`secret-${team}/${name}`, 'SecretStored', { team, name, version: 1 })
  await append(`registry-${team}`, 'RegistryCreated', { team, registry: 'models', id: 'models' })

  const webhooks = `/api/teams/${team}/webhooks`
  const send = (method: string, path: string, body?: unknown, options: SendOptions = {}) =>
    service.send(method, path, body, { key, ...options })
  return {
    team,
    other,
    keys,
    stranger,
    append,
    webhooks,
    send,
    /** The team administrator's, unless another key is said. */
    postWebhook: (body: object, options?: SendOptions) => send('POST', webhooks, body, options),
    postAutomation: (body: object, options?: SendOptions) => send('POST', '/api/automations', body, options),
  }
}

export const aWebhook = (more: object = {}) => ({ name: 'hook', url: 'https://hooks.example/in', ...more })

export const projectScope = { type: 'project', project: 'project' }
export const registryScope = { type: 'registry', registry: 'models' }

export const anAutomation = (team: string, more: object = {}) => ({
  team,
  name: 'on production',
  webhook: 'hook',
  payload: '{"alias":"${alias}"}',
  scope: projectScope,
  event: { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '^prod' },
  ...more,
})

/** A valid request to each endpoint of a team's webhooks. */
export const OF_WEBHOOKS = {
  'GET /api/teams/{team}/webhooks': () => ({}),
  'POST /api/teams/{team}/webhooks': () => ({ body: aWebhook() }),
  'GET /api/teams/{team}/webhooks/{id}': () => ({}),
  'PATCH /api/teams/{team}/webhooks/{id}': () => ({ body: { name: 'hook' } }),
  'DELETE /api/teams/{team}/webhooks/{id}': () => ({}),
  'GET /api/teams/{team}/webhooks/{id}/health': () => ({}),
  'POST /api/teams/{team}/webhooks/{id}/test': () => ({ body: {} }),
  'POST /api/teams/{team}/webhooks/{id}/release': () => ({ body: {} }),
  'POST /api/teams/{team}/webhooks/test': () => ({ body: { url: 'http://127.0.0.1/' } }),
}

export const OF_AUTOMATIONS = [
  'POST /api/automations',
  'POST /api/automations/preview',
  'GET /api/automations',
  'GET /api/automations/{id}',
  'PATCH /api/automations/{id}',
  'DELETE /api/automations/{id}',
]
