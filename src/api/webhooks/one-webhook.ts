import { NO_CONDITIONS } from '../../application/reading/reading.js'
import type { Services } from '../../application/services.js'
import { nullable } from '../../kernel/codec/containers.js'
import { int64 } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import {
  noSuchWebhook,
  webhookDecider,
  type Webhook,
  webhookStream,
  type WebhookContent,
} from '../../domain/webhooks/webhook.js'
import { countDeliveries } from '../../projections/webhooks/queries.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { anyAdministratorOfTeam, roleInTeam } from '../server/authorization.js'
import { Failure, invalidBody } from '../../application/failure.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { forced, inUse } from '../server/in-use.js'
import { definedFields } from './defined-fields.js'
import { automationsNeeding } from '../../application/webhooks/checks.js'
import { automationsOf, webhookById } from '../../application/webhooks/current-state.js'
import { releaseName, takeName } from '../../application/webhooks/names.js'
import { showingWebhooks, webhookChange, webhookJson } from './webhook-codecs.js'
import { requireGoodWebhook, type RunExclusive } from './webhooks.js'

export const WEBHOOK_PATH = '/api/teams/:team/webhooks/:id'

/** The webhook in the path, also a deleted one. */
export const webhookInPath = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  { team, params, cause }: Pick<RouteRequest, 'params' | 'cause'> & { readonly team: string },
): Promise<Webhook> => {
  const webhook = await webhookById(services, params['id']!, cause)
  if (webhook?.team !== team) throw new Failure(noSuchWebhook.kind, noSuchWebhook.reason)
  return webhook
}

export const requireExisting = (webhook: Webhook): Webhook => {
  if (webhook.deleted) throw new Failure(noSuchWebhook.kind, noSuchWebhook.reason)
  return webhook
}

export const showWebhook = (services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: WEBHOOK_PATH,
    summary:
      'Reads a webhook of a team. Needs an administrator role in the team, for it or any project or registry.',
    response: webhookJson,
    authorization: anyAdministratorOfTeam(services.access),
    handle: async (request) => {
      const webhook = requireExisting(await webhookInPath(services, request))
      const show = await showingWebhooks(services, webhook.team, request)
      return { body: await show(webhook) }
    },
  })

export const changeWebhook = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access' | 'vendor'>,
  runExclusive: RunExclusive,
): AnyRoute =>
  writeDirectory({
    method: 'patch',
    path: WEBHOOK_PATH,
    summary:
      'Updates a webhook. Absent fields keep their values, null removes an option, `enabled` releases or holds its messages. ' +
      'Needs the role team_administrator.',
    body: webhookChange,
    errors: ['conflict'],
    response: webhookJson,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: (request) => (cause) =>
      runExclusive(async () => {
        const webhook = requireExisting(await webhookInPath(services, request))
        const { id, team, content: before, edition } = webhook
        const { enabled, ...fields } = request.body
        const content = { ...before, ...definedFields(fields) }
        await requireGoodWebhook(services, team, content, definedFields(fields))
        await requireKeptSecrets(services, webhook, content, cause)
        const named = { team, kind: 'webhook', id } as const
        const isRenamed = content.name !== before.name
        if (isRenamed) await takeName(services, { ...named, name: content.name }, cause)
        const { state, refusals, position } = await execute(services)(
          webhookDecider,
          webhookStream(id),
          [{ type: 'ChangeWebhook', id, team, edition, content, enabled: enabled ?? null }],
          cause,
        )
        const refused = refusals.get(0)
        if (isRenamed)
          await releaseName(services, { ...named, name: (refused ? content : before).name }, cause)
        throwIfRefused(refused)
        const show = await showingWebhooks(services, team, { ...request, cause })
        return { body: await show(state!), position }
      }),
  })

/** Refuses to remove or replace a secret that payloads of automations name. */
const requireKeptSecrets = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  webhook: Webhook,
  content: WebhookContent,
  cause: Cause,
): Promise<void> => {
  const changed = (['access_token', 'secret'] as const).filter(
    (field) => content[field] !== webhook.content[field],
  )
  if (changed.length === 0) return
  const automations = await automationsNeeding(services, webhook, content, cause)
  if (automations.length === 0) return
  const names = automations.slice(0, MAX_NAMED).map(({ content: { name } }) => name)
  const more = automations.length > MAX_NAMED ? `, and ${automations.length - MAX_NAMED} more` : ''
  const msg = `Payloads of automations use this secret: ${names.join(', ')}${more}. Change these payloads first`
  throw invalidBody(changed.map((field) => ({ loc: [field], type: 'value_error', msg })))
}

const MAX_NAMED = 10

export const releaseWebhook = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access'>,
): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: `${WEBHOOK_PATH}/release`,
    summary:
      'Sends the waiting messages of a webhook at once: closes its circuit breaker and lifts a Retry-After. A disabled ' +
      'webhook is a conflict. Needs the role team_administrator.',
    body: closed('WebhookRelease', {}),
    errors: ['conflict'],
    response: webhookJson,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: (request) => async (cause) => {
      const { id, team } = requireExisting(await webhookInPath(services, request))
      const command = { type: 'ReleaseWebhook', id, team } as const
      const { state, refusals, position } = await execute(services)(
        webhookDecider,
        webhookStream(id),
        [command],
        cause,
      )
      throwIfRefused(refusals.get(0))
      const show = await showingWebhooks(services, team, { ...request, cause })
      return { body: await show(state!), position }
    },
  })

const deletedWebhook = open('DeletedWebhook', {
  says:
    '`canceled` is the number of pending deliveries that were canceled, null if they cannot be counted. ' +
    'Deleting it again returns a new count.',
  required: { canceled: nullable(int64) },
})

export const deleteWebhook = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access' | 'reading'>,
  runExclusive: RunExclusive,
): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: WEBHOOK_PATH,
    summary:
      'Permanently deletes a webhook. Pending deliveries are canceled; running attempts are completed. While automations ' +
      'send to it this is a conflict that lists them, unless `force` is true; they are broken then. Needs the role ' +
      'team_administrator.',
    query: forced,
    errors: ['conflict'],
    response: deletedWebhook,
    authorization: roleInTeam(services.access, 'team_administrator'),
    handle: (request) => async (cause) => {
      const deleted = await runExclusive(async () => {
        const { id, team, content, deleted: isDeleted } = await webhookInPath(services, request)
        if (!isDeleted && request.query.force !== 'true') await requireUnused(services, team, id, cause)
        const command = { type: 'DeleteWebhook', id, team } as const
        const { position } = await execute(services)(webhookDecider, webhookStream(id), [command], cause)
        await releaseName(services, { team, kind: 'webhook', name: content.name, id }, cause)
        return { id, team, position: position ?? (await services.eventStore.head()) }
      })
      return {
        body: { canceled: await canceledWith(services, request.reader, deleted) },
        position: deleted.position,
      }
    },
  })

const requireUnused = async (
  services: Pick<Services, 'eventStore' | 'ids'>,
  team: string,
  id: string,
  cause: Cause,
): Promise<void> => {
  const automations = (await automationsOf(services, team, cause)).filter(
    ({ content }) => content.webhook === id,
  )
  if (automations.length > 0)
    throw inUse(
      'Automations send to this webhook',
      automations.map(({ id, content: { name } }) => ({ kind: 'automation', id, name })),
    )
}

/** The dispatcher cancels the pending deliveries later, so these are counted as canceled. */
const canceledWith = async (
  { reading }: Pick<Services, 'reading'>,
  reader: ClickHouseReader,
  { id, team, position }: { readonly id: string; readonly team: string; readonly position: Position },
): Promise<number | null> => {
  const count = countDeliveries(reader)
  try {
    const asked = {
      team,
      webhook: id,
      position: await reading.waitForNow(`deleting ${id}`, NO_CONDITIONS, position),
    }
    const waiting = await count({ ...asked, states: ['pending', 'retrying'] })
    return waiting + (await count({ ...asked, states: ['canceled'], reason: 'webhook_deleted' }))
  } catch {
    return null
  }
}
