import type { Services } from '../../application/services.js'
import { missingRight } from '../../domain/access/rights.js'
import {
  automationDecider,
  noSuchAutomation,
  type Automation,
} from '../../domain/webhooks/automations/decider.js'
import { automationStream, type AutomationContent } from '../../domain/webhooks/automations/events.js'
import { execute } from '../../kernel/execute.js'
import { throwIfRefused, requireRole } from '../../application/access/rights.js'
import { anyKey, type Authorization } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { automationChange, automationJson, changedEvent, showingAutomations } from './automation-codecs.js'
import type { RunExclusive } from './webhooks.js'
import {
  checkedContent,
  roleFor,
  findWebhook,
  type ValidationPorts,
} from '../../application/webhooks/checks.js'
import { definedFields } from './defined-fields.js'
import { automationById } from '../../application/webhooks/current-state.js'
import { releaseName, takeName } from '../../application/webhooks/names.js'

const PATH = '/api/automations/:id'

const notFound = () => new Failure(noSuchAutomation.kind, noSuchAutomation.reason)

/** The automation in the path, also a deleted one. One of another team is a 404. */
export const automationInPath = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'access'>,
  { params, principal, cause }: Pick<RouteRequest, 'params' | 'principal' | 'cause'>,
): Promise<Automation> => {
  const automation = await automationById(services, params['id']!, cause)
  if (automation === null) throw notFound()
  const outside = missingRight(services.access.directory(), principal.userId, automation.team, 'member')
  if (outside !== undefined) throw notFound()
  return automation
}

export const requireExisting = (automation: Automation): Automation => {
  if (automation.deleted) throw notFound()
  return automation
}

/** Requires membership in the team of the automation in the path, which may be deleted. */
export const ofAutomation = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access'>,
): Authorization<{ readonly automation: Automation; readonly team: string }> => ({
  errors: ['not-found'],
  authorize: async (request) => {
    const automation = await automationInPath(services, request)
    return { automation, team: automation.team }
  },
})

export const showAutomation = (
  services: Pick<Services, 'eventStore' | 'clock' | 'ids' | 'access'>,
): AnyRoute =>
  readDirectory({
    method: 'get',
    path: PATH,
    summary: 'Reads an automation. Needs membership in its team.',
    response: automationJson,
    authorization: ofAutomation(services),
    handle: async ({ automation, reader, cause }) => {
      const show = await showingAutomations(services, automation.team, { reader, cause })
      return { body: await show(requireExisting(automation)) }
    },
  })

export const changeAutomation = (
  services: ValidationPorts & Pick<Services, 'clock' | 'access'>,
  runExclusive: RunExclusive,
): AnyRoute =>
  writeDirectory({
    method: 'patch',
    path: PATH,
    summary:
      'Updates an automation. Absent fields keep their values, also inside event and run_filters; null removes a value. ' +
      'Changing event, scope or filter resets its cooldowns. Needs the role for its scope, both the old and the new one.',
    body: automationChange,
    errors: ['not-found', 'forbidden', 'conflict'],
    response: automationJson,
    authorization: anyKey,
    handle: (request) => (cause) =>
      runExclusive(async () => {
        const { body, principal } = request
        const automation = requireExisting(await automationInPath(services, request))
        const { id, team, edition, content: before } = automation
        for (const scope of [before.scope, body.scope ?? before.scope])
          requireRole(services.access, principal, team, roleFor(scope))
        const content = await applyChange(services, request, automation)
        const named = { team, kind: 'automation', id } as const
        const isRenamed = content.name !== before.name
        if (isRenamed) await takeName(services, { ...named, name: content.name }, cause)
        const { state, refusals, position } = await execute(services)(
          automationDecider,
          automationStream(id),
          [{ type: 'ChangeAutomation', id, team, edition, content, enabled: body.enabled ?? null }],
          cause,
        )
        const refused = refusals.get(0)
        if (isRenamed)
          await releaseName(services, { ...named, name: (refused ? content : before).name }, cause)
        throwIfRefused(refused)
        const show = await showingAutomations(services, team, { ...request, cause })
        return { body: await show(state!), position }
      }),
  })

type Change = RouteRequest<(typeof automationChange)['_A']>

/** Applies a change to the content. The payload is only validated again if it or the webhook changes. */
export const applyChange = async (
  services: ValidationPorts,
  { body, cause }: Pick<Change, 'body' | 'cause'>,
  { team, content: before }: Automation,
): Promise<AutomationContent> => {
  const { name, description, payload, scope, event, run_filters, query } = definedFields(body)
  const isSentElsewhere = body.webhook !== undefined
  const webhook =
    isSentElsewhere || payload !== undefined
      ? await findWebhook(services, team, body.webhook ?? before.webhook, cause)
      : undefined
  const filters = run_filters === null ? null : { ...before.run_filters, ...definedFields(run_filters ?? {}) }
  const proposed = {
    scope: scope ?? before.scope,
    event: changedEvent(before.event, event),
    run_filters: filters === null ? null : { user: null, name_pattern: null, ...filters },
    query: query === undefined ? before.query : query,
  }
  const checked = await checkedContent(services, team, proposed, payload ?? before.payload, webhook)
  return {
    ...before,
    ...definedFields({ name, description }),
    webhook: webhook?.id ?? before.webhook,
    ...checked,
  }
}

export const deleteAutomation = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access'>,
  runExclusive: RunExclusive,
): AnyRoute =>
  writeDirectory({
    method: 'delete',
    path: PATH,
    summary:
      'Permanently deletes an automation. Deliveries that it has already scheduled are still sent. Needs the role for its scope.',
    errors: ['not-found', 'forbidden'],
    response: emptyResponse,
    authorization: anyKey,
    handle: (request) => (cause) =>
      runExclusive(async () => {
        const { id, team, content } = await automationInPath(services, request)
        requireRole(services.access, request.principal, team, roleFor(content.scope))
        const command = { type: 'DeleteAutomation', id, team } as const
        const { position } = await execute(services)(
          automationDecider,
          automationStream(id),
          [command],
          cause,
        )
        await releaseName(services, { team, kind: 'automation', name: content.name, id }, cause)
        return { body: {}, position }
      }),
  })
