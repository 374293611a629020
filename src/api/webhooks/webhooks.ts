import type { Services } from '../../application/services.js'
import { namesAfter } from '../../domain/webhooks/names/names.js'
import { idFromKey } from '../server/idempotency.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'
import { anyAdministratorOfTeam, roleInTeam } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, idempotent, writeDirectory } from '../server/route-kinds.js'
import { createWebhook } from '../../application/webhooks/webhooks.js'
import { writing } from '../server/run.js'
import { namedNow, rosterOf, webhookById } from '../../application/webhooks/current-state.js'
import { newWebhook, showingWebhooks, webhookJson } from './webhook-codecs.js'

/** Serialises changes of names in this process, so that only another process can conflict. */
export type RunExclusive = <A>(task: () => Promise<A>) => Promise<A>

export const PATH = '/api/teams/:team/webhooks'

export const createWebhookRoute = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'sha256' | 'access' | 'vendor'>,
  runExclusive: RunExclusive,
): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: PATH,
    summary:
      "Creates a webhook of a team, with the names of the team's secrets. A duplicate name is a conflict; the response " +
      'has the id of the existing webhook. Needs the role team_administrator.',
    body: newWebhook,
    ...idempotent,
    response: webhookJson,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: (request) => {
      const { team, body } = request
      const fromKey = idFromKey(services, request, team, 'webhook')
      const id = fromKey ?? services.ids.next()
      const { enabled, ...content } = body
      const webhook = { id, team, content, enabled, isRepeatable: fromKey !== undefined }
      return writing(
        (cause) => runExclusive(() => createWebhook(services, webhook, cause)),
        async ({ state }) => (await showingWebhooks(services, team, request))(state!),
      )
    },
  })

export const listWebhooks = (services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary:
      "Lists a team's webhooks by name. Needs an administrator role in the team, for it or any project or registry.",
    query: pageQuery,
    response: pageOf(webhookJson),
    authorization: anyAdministratorOfTeam(services.access),
    handle: async ({ team, query, principal, reader }) => {
      const roster = await rosterOf(services, team)
      const { data, next } = takePage(namesAfter(roster, 'webhook', query.after), {
        limit: query.limit,
        keyOf: ({ name }) => name,
      })
      const listed = await namedNow(data, (id) => webhookById(services, id))
      const show = await showingWebhooks(services, team, { principal, reader })
      return { body: { data: await Promise.all(listed.map(show)), next } }
    },
  })
