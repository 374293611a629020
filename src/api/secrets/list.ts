import type * as t from 'io-ts'
import { instant, instantOf } from '../../domain/codec/instant.js'
import { integerBetween } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { secretStream } from '../../domain/secret/events.js'
import { namesOf } from './leftovers.js'
import { secretName } from '../../domain/webhook/events.js'
import { askedPage, pageOf, pageQuery, takePage } from '../access/page.js'
import { readsDirectory } from '../conduct.js'
import { route, type AnyRoute } from '../route.js'
import { managedTeam, PATH, rights, type Secrets } from './secrets.js'

const secret = open('Secret', {
  required: {
    name: secretName,
    version: integerBetween(1, 2 ** 31 - 1),
    created_at: instant,
    updated_at: instant,
  },
})

export const listSecrets = ({ ports, access }: Secrets): AnyRoute =>
  route({
    method: 'get',
    path: PATH,
    summary:
      "Lists a team's secrets by name: their versions and dates, never their values. Needs the role team_administrator.",
    query: pageQuery,
    ...readsDirectory,
    fails: [...readsDirectory.fails, ...rights, 'overloaded'],
    answer: { schema: pageOf(secret).schema, headers: [] },
    handle: async ({ params, query, principal }) => {
      const team = managedTeam(access, { params, principal })
      const { limit, after } = askedPage(query)
      const shown: t.TypeOf<typeof secret>[] = []
      for await (const { name, since } of namesOf(ports.secrets, team, after)) {
        const last = await lastOf(ports, team, name)
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

/** Undefined where the log knows of no value: it was destroyed, or never came to be. */
const lastOf = async ({ eventStore }: Pick<Secrets['ports'], 'eventStore'>, team: string, name: string) => {
  const stream = secretStream(team, name)
  for await (const { type, data, recordedAt } of eventStore.readStream(stream, { backwards: true, limit: 1 }))
    if (type !== 'SecretDestroyed')
      return { version: Number(data['version']), updated_at: instantOf(recordedAt) }
  return undefined
}
