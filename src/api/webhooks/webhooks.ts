import type { Services } from '../../application/services.js'
import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import { namesAfter } from '../../domain/webhooks/names/names.js'
import { headerProblems, headerSecrets } from '../../domain/webhooks/static-headers.js'
import { credentialProblems } from '../../domain/webhooks/credential-headers.js'
import { webhookProblems } from '../../domain/webhooks/checks.js'
import {
  type WebhookCommand,
  webhookDecider,
  webhookStream,
  type WebhookContent,
} from '../../domain/webhooks/webhook.js'
import { idFromKey } from '../server/idempotency.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { anyAdministratorOfTeam, roleInTeam } from '../server/authorization.js'
import { invalidBody } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { namedNow, rosterOf, webhookById } from '../../application/webhooks/current-state.js'
import { confirmName, takeName } from '../../application/webhooks/names.js'
import { secretProblem, secretProblems } from '../../application/secrets/secret-uses.js'
import { newWebhook, showingWebhooks, webhookJson } from './webhook-codecs.js'

/** Serialises changes of names in this process, so that only another process can conflict. */
export type RunExclusive = <A>(task: () => Promise<A>) => Promise<A>

export const PATH = '/api/teams/:team/webhooks'

export const createWebhook = (
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
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: webhookJson,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: (request) => {
      const { team, body, principal, reader } = request
      const fromKey = idFromKey(services, request, team, 'webhook')
      const id = fromKey ?? services.ids.next()
      const { enabled, ...rest } = body
      const content: WebhookContent = rest
      const named = { team, kind: 'webhook', name: content.name, id } as const
      const run = (command: WebhookCommand, cause: Cause) =>
        execute(services)(webhookDecider, webhookStream(id), [command], cause)

      return (cause) =>
        runExclusive(async () => {
          const isRepeat = fromKey !== undefined && (await webhookById(services, id, cause)) !== null
          if (!isRepeat) {
            await requireGoodWebhook(services, team, content, content)
            await takeName(services, named, cause)
          }
          const created = await run({ type: 'CreateWebhook', id, team, content, enabled }, cause)
          throwIfRefused(created.refusals.get(0))
          if (!isRepeat)
            await confirmName(services, named, cause, () => run({ type: 'DeleteWebhook', id, team }, cause))
          const show = await showingWebhooks(services, team, { principal, reader, cause })
          return { body: await show(created.state!), position: created.position }
        })
    },
  })

/** Refuses invalid values, and in changed fields secrets that it may not use and credentials that are written out. */
export const requireGoodWebhook = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'vendor'>,
  team: string,
  content: WebhookContent,
  { access_token, secret, headers }: Partial<WebhookContent>,
): Promise<void> => {
  const unusable = await secretProblems(services, team, headerSecrets(content.headers), 'webhooks')
  const problems = [
    ...webhookProblems(content),
    ...headerProblems(content, services.vendor, unusable),
    ...credentialProblems(headers, 'access_token'),
  ]
  for (const [field, name] of Object.entries({ access_token, secret })) {
    const msg = name == null ? undefined : await secretProblem(services, team, name, 'webhooks')
    if (msg !== undefined) problems.push({ loc: [field], type: 'value_error', msg })
  }
  if (problems.length > 0) throw invalidBody(problems)
}

export const listWebhooks = (services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary:
      "Lists a team's webhooks by name. Needs an administrator role in the team, for it or any project or registry.",
    query: pageQuery,
    response: pageOf(webhookJson),
    authorization: anyAdministratorOfTeam(services.access),
    handle: async ({ team, query, principal, reader, cause }) => {
      const roster = await rosterOf(services, team, cause)
      const { data, next } = takePage(
        query,
        (after) => namesAfter(roster, 'webhook', after),
        ({ name }) => name,
      )
      const listed = await namedNow(data, (id) => webhookById(services, id, cause))
      const show = await showingWebhooks(services, team, { principal, reader, cause })
      return { body: { data: await Promise.all(listed.map(show)), next } }
    },
  })
