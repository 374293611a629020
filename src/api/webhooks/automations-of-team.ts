import type { Services } from '../../application/services.js'
import type { RunExclusive } from './webhooks.js'
import type * as t from 'io-ts'
import type { AutomationCommand } from '../../domain/webhooks/automations/commands.js'
import { automationDecider } from '../../domain/webhooks/automations/decider.js'
import { automationStream, type AutomationContent } from '../../domain/webhooks/automations/events.js'
import { open } from '../../kernel/codec/struct.js'
import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import { teamName } from '../../kernel/ids.js'
import { namesAfter } from '../../domain/webhooks/names/names.js'
import { idFromKey } from '../server/idempotency.js'
import { pageFields, pageOf, takePage } from '../server/page.js'
import { throwIfRefused, requireRole } from '../../application/access/rights.js'
import { memberOfTeam } from '../server/authorization.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { automationJson, newAutomation, showingAutomations } from './automation-codecs.js'
import {
  checkedContent,
  roleFor,
  findWebhook,
  findWebhookAtCreation,
  type ValidationPorts,
} from '../../application/webhooks/checks.js'
import { automationById, namedNow, rosterOf } from '../../application/webhooks/current-state.js'
import { confirmName, takeName } from '../../application/webhooks/names.js'

const PATH = '/api/automations'

export const createAutomation = (
  services: ValidationPorts & Pick<Services, 'clock' | 'access'>,
  runExclusive: RunExclusive,
): AnyRoute =>
  writeDirectory({
    method: 'post',
    path: PATH,
    summary:
      'Creates an automation of a team for one of its webhooks, given by name or id. A duplicate name is a conflict; ' +
      'the response has the id of the existing automation. Needs the role project_administrator, registry_administrator or ' +
      'team_administrator, depending on its scope.',
    body: newAutomation,
    requestHeaders: ['Idempotency-Key'],
    errors: ['conflict'],
    response: automationJson,
    authorization: {
      errors: ['not-found', 'forbidden'],
      authorize: ({ body: { team, scope }, principal }: RouteRequest<t.TypeOf<typeof newAutomation>>) => {
        requireRole(services.access, principal, team, roleFor(scope))
        return {}
      },
    },
    handle: (request) => {
      const { body, reader } = request
      const { team, name, description, enabled, payload, ...proposed } = body
      const fromKey = idFromKey(services, request, team, 'automation')
      const id = fromKey ?? services.ids.next()
      const named = { team, kind: 'automation', name, id } as const
      const run = (command: AutomationCommand, cause: Cause) =>
        execute(services)(automationDecider, automationStream(id), [command], cause)

      return (cause) =>
        runExclusive(async () => {
          const before = fromKey === undefined ? null : await automationById(services, id, cause)
          // A retry is compared with the original request, even if its webhook or secrets have changed.
          const isRepeat = before !== null
          const webhook = isRepeat
            ? await findWebhookAtCreation(services, before, proposed.webhook, cause)
            : await findWebhook(services, team, proposed.webhook, cause)
          const checked = await checkedContent(
            services,
            team,
            proposed,
            payload,
            isRepeat ? undefined : webhook,
          )
          const { secret, access_token } = isRepeat ? before.first.content : webhook.content
          const content: AutomationContent = {
            name,
            description,
            payload,
            secret,
            access_token,
            ...checked,
            webhook: webhook.id,
          }
          if (!isRepeat) await takeName(services, named, cause)
          const created = await run({ type: 'CreateAutomation', id, team, content, enabled }, cause)
          throwIfRefused(created.refusals.get(0))
          if (!isRepeat)
            await confirmName(services, named, cause, () =>
              run({ type: 'DeleteAutomation', id, team }, cause),
            )
          const show = await showingAutomations(services, team, { reader, cause })
          return { body: await show(created.state!), position: created.position }
        })
    },
  })

const listQuery = open('AutomationsAsked', { required: { team: teamName }, optional: pageFields })

export const listAutomations = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access'>,
): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary: "Lists a team's automations by name. Needs membership in the team.",
    query: listQuery,
    response: pageOf(automationJson),
    authorization: memberOfTeam(services.access),
    handle: async ({ query, reader, cause }) => {
      const roster = await rosterOf(services, query.team, cause)
      const { data, next } = takePage(
        query,
        (after) => namesAfter(roster, 'automation', after),
        ({ name }) => name,
      )
      const listed = await namedNow(data, (id) => automationById(services, id, cause))
      const show = await showingAutomations(services, query.team, { reader, cause })
      return { body: { data: await Promise.all(listed.map(show)), next } }
    },
  })
