import type * as t from 'io-ts'
import { instant, instantOf } from '../../kernel/codec/instant.js'
import { integerBetween } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { secretStream } from '../../domain/secrets/events.js'
import { namesOf } from '../../application/secrets/reconcile.js'
import { secretName } from '../../domain/webhooks/events.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'
import { roleInTeam } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory } from '../server/route-kinds.js'
import type { Services } from '../../application/services.js'
import { PATH } from './store.js'

const secret = open('Secret', {
  required: {
    name: secretName,
    version: integerBetween(1, 2 ** 31 - 1),
    created_at: instant,
    updated_at: instant,
  },
})

export const listSecrets = (services: Pick<Services, 'eventStore' | 'access' | 'secrets'>): AnyRoute =>
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
