import type { Services } from '../../application/services.js'
import { nullable } from '../../kernel/codec/containers.js'
import { int64 } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import {
  canceledWith,
  changeWebhook,
  deleteWebhook,
  existingWebhook,
  writeToWebhook,
} from '../../application/webhooks/webhooks.js'
import { writing } from '../server/run.js'
import { anyAdministratorOfTeam, roleInTeam } from '../server/authorization.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { forced } from '../server/in-use.js'
import { showingWebhooks, webhookChange, webhookJson } from './webhook-codecs.js'
import type { RunExclusive } from './webhooks.js'

export const WEBHOOK_PATH = '/api/teams/:team/webhooks/:id'

export const webhookInPath = ({
  team,
  params,
}: Pick<RouteRequest, 'params'> & { readonly team: string }) => ({ team, id: params['id']! })

export const showWebhook = (services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: WEBHOOK_PATH,
    summary:
      'Reads a webhook of a team. Needs an administrator role in the team, for it or any project or registry.',
    response: webhookJson,
    authorization: anyAdministratorOfTeam(services.access),
    handle: async (request) => {
      const webhook = await existingWebhook(services, webhookInPath(request))
      const show = await showingWebhooks(services, webhook.team, request)
      return { body: await show(webhook) }
    },
  })

export const changeWebhookRoute = (
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
    handle: (request) =>
      writing(
        (cause) => runExclusive(() => changeWebhook(services, webhookInPath(request), request.body, cause)),
        async ({ state }) => (await showingWebhooks(services, request.team, request))(state!),
      ),
  })

export const releaseWebhookRoute = (
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
    handle: async (request) => {
      const { id, team } = await existingWebhook(services, webhookInPath(request))
      return writing(
        (cause) => writeToWebhook(services, { type: 'ReleaseWebhook', id, team }, cause),
        async ({ state }) => (await showingWebhooks(services, team, request))(state!),
      )
    },
  })

const deletedWebhook = open('DeletedWebhook', {
  says:
    '`canceled` is the number of pending deliveries that were canceled, null if they cannot be counted. ' +
    'Deleting it again returns a new count.',
  required: { canceled: nullable(int64) },
})

export const deleteWebhookRoute = (
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
      const path = webhookInPath(request)
      const isForced = request.query.force === 'true'
      const position = await runExclusive(() => deleteWebhook(services, path, isForced, cause))
      const canceled = await canceledWith(services, request.reader, { ...path, position })
      return { body: { canceled }, position }
    },
  })
