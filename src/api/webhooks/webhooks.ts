import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import { namesAfter } from '../../domain/webhooks/names/decider.js'
import { webhookProblems } from '../../domain/webhooks/checks.js'
import type { WebhookCommand } from '../../domain/webhooks/commands.js'
import { webhookDecider } from '../../domain/webhooks/decider.js'
import { webhookStream, type WebhookContent } from '../../domain/webhooks/events.js'
import { repeatableId } from '../server/idempotency.js'
import { pageOf, pageQuery, takePage } from '../server/page.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { roleInTeam } from '../server/authorization.js'
import { invalidBody } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import type { ValidationPorts } from '../../application/webhooks/checks.js'
import type { Automations } from './automations.js'
import { hasSecret, rosterOf, webhookById } from '../../application/webhooks/current-state.js'
import { confirmName, takeName } from '../../application/webhooks/names.js'
import { newWebhook, shownWebhook, webhookJson } from './webhook-codecs.js'

const PATH = '/api/teams/:team/webhooks'

export const createWebhook = ({ ports, access, runExclusive }: Automations): AnyRoute =>
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
    authorization: roleInTeam(access, 'team_administrator'),
    handle: ({ team, body, headers, principal }) => {
      const key = headers['idempotency-key']
      const id = repeatableId(ports, `${principal.userId}\n${team}\nwebhook`, key)
      const { enabled, ...rest } = body
      const content: WebhookContent = rest
      const named = { team, kind: 'webhook', name: content.name, id } as const
      const run = (command: WebhookCommand, cause: Cause) =>
        execute(ports)(webhookDecider, webhookStream(id), [command], cause)

      return (cause) =>
        runExclusive(async () => {
          const isRepeat = key !== undefined && (await webhookById(ports, id, cause)) !== null
          if (!isRepeat) {
            await requireGoodWebhook(ports, team, content, content)
            await takeName(ports, named, cause)
          }
          const created = await run({ type: 'CreateWebhook', id, team, content, enabled }, cause)
          throwIfRefused(created.refusals.get(0))
          if (!isRepeat)
            await confirmName(ports, named, cause, () => run({ type: 'DeleteWebhook', id, team }, cause))
          return { body: shownWebhook(created.state!), position: created.position }
        })
    },
  })

/** Refuses invalid values, and newly named secrets that the team does not have. */
export const requireGoodWebhook = async (
  ports: ValidationPorts,
  team: string,
  content: WebhookContent,
  { access_token, secret }: Partial<WebhookContent>,
): Promise<void> => {
  const problems = [...webhookProblems(content)]
  for (const [field, name] of Object.entries({ access_token, secret }))
    if (name != null && !(await hasSecret(ports, team, name)))
      problems.push({ loc: [field], type: 'value_error', msg: 'The team has no secret with this name' })
  if (problems.length > 0) throw invalidBody(problems)
}

export const listWebhooks = ({ ports, access }: Automations): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary: "Lists a team's webhooks by name. Needs the role team_administrator.",
    query: pageQuery,
    response: pageOf(webhookJson),
    authorization: roleInTeam(access, 'team_administrator'),
    handle: async ({ team, query, cause }) => {
      const roster = await rosterOf(ports, team, cause)
      const { data, next } = takePage(
        query,
        (after) => namesAfter(roster, 'webhook', after),
        ({ name }) => name,
      )
      const found = await Promise.all(data.map(({ id }) => webhookById(ports, id, cause)))
      const shown = found.flatMap((webhook, place) =>
        webhook !== null && !webhook.deleted && webhook.content.name === data[place]?.name
          ? [shownWebhook(webhook)]
          : [],
      )
      return { body: { data: shown, next } }
    },
  })
