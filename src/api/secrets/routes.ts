import type * as t from 'io-ts'
import type { AnyRoute } from '../server/route.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { storeSecret, PATH } from './store.js'
import { execute } from '../../kernel/execute.js'
import { headerSecrets } from '../../domain/webhooks/static-headers.js'
import { secretsInExtras } from '../../domain/gateway/upstreams/extras.js'
import { secretDecider } from '../../domain/secrets/decider.js'
import { secretStream } from '../../domain/secrets/events.js'
import { reconcileSecret, namesOf } from '../../application/secrets/reconcile.js'
import { hasSecret, webhooksOf } from '../../application/webhooks/current-state.js'
import { forced, inUse, type User } from '../server/in-use.js'
import type { Cause } from '../../kernel/event.js'
import { roleInTeam } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { writeDirectory, readDirectory } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import type { Services } from '../../application/services.js'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { integerBetween } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { secretName } from '../../domain/webhooks/events.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'

const secret = open('Secret', {
  required: {
    name: secretName,
    version: integerBetween(1, 2 ** 31 - 1),
    created_at: instant,
    updated_at: instant,
  },
})

const listSecrets = (services: Pick<Services, 'eventStore' | 'access' | 'secrets'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary:
      "Lists a team's secrets by name: their versions and dates, never their values. Needs the role team_administrator.",
    query: pageQuery,
    errors: ['overloaded'],
    response: pageOf(secret),
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: async ({ team, query }) => {
      const { limit, after } = query
      const shown: t.TypeOf<typeof secret>[] = []
      for await (const { name, since } of namesOf(services.secrets, team, after)) {
        const last = await lastOf(services, team, name)
        if (last !== undefined) shown.push({ name, ...last, created_at: instantOf(since) })
        if (shown.length > limit) break
      }
      return {
        body: takePage(
          query,
          () => shown,
          ({ name }) => name,
        ),
      }
    },
  })

/** Undefined if the secret was destroyed or its event was never written. */
const lastOf = async ({ eventStore }: Pick<Services, 'eventStore'>, team: string, name: string) => {
  const stream = secretStream(team, name)
  for await (const { type, data, recordedAt } of eventStore.readStream(stream, { backwards: true, limit: 1 }))
    if (type !== 'SecretDestroyed')
      return { version: Number(data['version']), updated_at: instantOf(recordedAt) }
  return undefined
}

const destroySecret = (
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
    handle: async ({ team, params, query, cause }) => {
      const secret = { team, name: params['name']! }
      const users = query.force === 'true' ? [] : await usersOf(services, secret, cause)
      if (users.length > 0) throw inUse('Webhooks or upstreams use this secret', users)
      const command = { type: 'DestroySecret', ...secret } as const
      const stream = secretStream(secret.team, secret.name)
      return writing(async (cause) => {
        const executed = await execute(services)(secretDecider, stream, [command], cause)
        // Only after the event is appended. A retry does it again, in case the first was interrupted in between.
        if (executed.refusals.size === 0) await reconcileSecret(services, secret, executed.state)
        return executed
      })
    },
  })

/** The webhooks and upstreams of the team that name a secret which has a value. */
const usersOf = async (
  services: Pick<GatewayServices, 'eventStore' | 'ids' | 'gateway'>,
  { team, name }: { readonly team: string; readonly name: string },
  cause: Cause,
): Promise<readonly User[]> => {
  if (!(await hasSecret(services, team, name))) return []
  const webhooks = (await webhooksOf(services, team, cause)).filter(
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

/** Secrets can be written and listed, never read. */
export const secretRoutes = (
  services: Pick<GatewayServices, 'eventStore' | 'ids' | 'sha256' | 'access' | 'secrets' | 'gateway'>,
): readonly AnyRoute[] => [storeSecret(services), listSecrets(services), destroySecret(services)]
