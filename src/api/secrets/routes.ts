import type * as t from 'io-ts'
import { secretsOf } from '../../application/secrets/secret-uses.js'
import type { AnyRoute } from '../server/route.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { storeSecret, PATH } from './store.js'
import { changeSecretUses, destroySecret } from '../../application/secrets/write-secret.js'
import { secretUse, secretName } from '../../domain/secrets/secret.js'
import { inUse } from '../../application/in-use.js'
import { forced } from '../server/in-use.js'
import { requireKeptUses, usersOf } from './users.js'
import { roleInTeam } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { writeDirectory, readDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import type { Services } from '../../application/services.js'
import { instant } from '../../kernel/codec/instant.js'
import { integerBetween } from '../../kernel/codec/leaves.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'

const secret = open('Secret', {
  required: {
    name: secretName,
    version: integerBetween(1, 2 ** 31 - 1),
    created_at: instant,
    updated_at: instant,
    used_for: arrayOf(secretUse),
  },
})

const listSecrets = (services: Pick<Services, 'eventStore' | 'access' | 'secrets'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary:
      "Lists a team's secrets by name: their versions, dates and uses, never their values. Needs the role team_administrator.",
    query: pageQuery,
    errors: ['overloaded'],
    response: pageOf(secret),
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async ({ team, query }) => {
      const { limit, after } = query
      const secrets: t.TypeOf<typeof secret>[] = []
      for await (const one of secretsOf(services, team, after)) if (secrets.push(one) > limit) break
      return { body: takePage(secrets, { limit, keyOf: ({ name }) => name }) }
    },
  })

const newUses = closed('SecretUses', { required: { used_for: arrayOf(secretUse, 1) } })

const changeSecret = (
  services: Pick<GatewayServices, 'eventStore' | 'ids' | 'access' | 'gateway'>,
): AnyRoute =>
  writeDirectory({
    method: 'patch',
    path: `${PATH}/:name`,
    summary:
      'Sets what a secret may be used for: `webhooks`, `upstreams` and `scorers`. To take away a use while webhooks or ' +
      'upstreams have it is a conflict that lists them. Needs the role team_administrator.',
    body: newUses,
    errors: ['conflict'],
    response: newUses,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async ({ team, params, body: { used_for: usedFor } }) => {
      const secret = { team, name: params['name']! }
      await requireKeptUses(services, secret, usedFor)
      return writing(
        (cause) => changeSecretUses(services, secret, usedFor, cause),
        ({ state }) => ({ used_for: state.usedFor }),
      )
    },
  })

const deleteSecret = (
  services: Pick<GatewayServices, 'eventStore' | 'ids' | 'access' | 'secrets' | 'gateway'>,
): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: `${PATH}/:name`,
    summary:
      'Permanently deletes all values of a secret. While webhooks or upstreams use it this is a conflict that lists them, ' +
      'unless `force` is true; what they send fails then. Needs the role team_administrator.',
    query: forced,
    errors: ['conflict'],
    response: emptyResponse,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async ({ team, params, query }) => {
      const secret = { team, name: params['name']! }
      const users = query.force === 'true' ? [] : await usersOf(services, secret)
      if (users.length > 0) throw inUse('Webhooks or upstreams use this secret', users)
      return writing((cause) => destroySecret(services, secret, cause))
    },
  })

/** Secrets can be written and listed, never read. */
export const secretRoutes = (
  services: Pick<GatewayServices, 'eventStore' | 'ids' | 'sha256' | 'access' | 'secrets' | 'gateway'>,
): readonly AnyRoute[] => [
  storeSecret(services),
  listSecrets(services),
  changeSecret(services),
  deleteSecret(services),
]
