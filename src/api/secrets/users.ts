import type { SecretName } from '../../kernel/ports/secret-store.js'
import { headerSecrets } from '../../domain/secrets/static-headers.js'
import { secretsInExtras } from '../../domain/gateway/upstreams/extras.js'
import type { SecretUse } from '../../domain/secrets/secret.js'
import { Failure } from '../../application/failure.js'
import { usesOfSecret } from '../../application/secrets/secret-uses.js'
import { webhooksOf } from '../../application/webhooks/current-state.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import type { User } from '../../application/in-use.js'

type UserServices = Pick<GatewayServices, 'eventStore' | 'ids' | 'gateway'>

/** The webhooks and upstreams of the team that name a secret which has a value. */
export const usersOf = async (
  services: UserServices,
  { team, name }: SecretName,
): Promise<readonly User[]> => {
  if ((await usesOfSecret(services, team, name)) === undefined) return []
  const webhooks = (await webhooksOf(services, team)).filter(
    ({ content: { access_token, secret, headers } }) =>
      access_token === name || secret === name || headerSecrets(headers).includes(name),
  )
  const upstreams = [...services.gateway.upstreams.all().values()].filter(
    ({ team: owner, content }) =>
      owner === team && (content.secret === name || secretsInExtras(content).includes(name)),
  )
  return [
    ...webhooks.map(({ id, content }) => ({ kind: 'webhook' as const, id, name: content.name })),
    ...upstreams.map(({ id, content }) => ({ kind: 'upstream' as const, id, name: content.name })),
  ]
}

const USES = { webhook: 'webhooks', upstream: 'upstreams', automation: undefined } as const

/** Refuses to take away a use that webhooks or upstreams have. */
export const requireKeptUses = async (
  services: UserServices,
  secret: SecretName,
  usedFor: readonly SecretUse[],
): Promise<void> => {
  const users = (await usersOf(services, secret)).filter(({ kind }) => {
    const use = USES[kind]
    return use !== undefined && !usedFor.includes(use)
  })
  if (users.length > 0)
    throw new Failure(
      'conflict',
      'Webhooks or upstreams use this secret for something else. Change them first.',
      { body: { used_by: users.map((user) => ({ ...user })) } },
    )
}
