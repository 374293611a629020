import type { Services } from '../../application/services.js'
import { missingRight } from '../../domain/access/rights.js'
import { noSuchAutomation, type Automation } from '../../domain/webhooks/automations/decider.js'
import { requireRole } from '../../application/access/rights.js'
import { anyKey, type Authorization } from '../server/authorization.js'
import { emptyResponse } from '../server/empty-response.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute, RouteRequest } from '../server/route.js'
import { readDirectory, writeDirectory } from '../server/route-kinds.js'
import { automationChange, automationJson, showingAutomations } from './automation-codecs.js'
import type { RunExclusive } from './webhooks.js'
import { roleFor, type ValidationPorts } from '../../application/webhooks/checks.js'
import { changeAutomation, deleteAutomation } from '../../application/webhooks/automations.js'
import { writing } from '../server/run.js'
import { automationById } from '../../application/webhooks/current-state.js'

const PATH = '/api/automations/:id'

const notFound = () => new Failure(noSuchAutomation.kind, noSuchAutomation.reason)

/** The automation in the path, also a deleted one. One of another team is a 404. */
export const automationInPath = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'access'>,
  { params, principal }: Pick<RouteRequest, 'params' | 'principal'>,
): Promise<Automation> => {
  const automation = await automationById(services, params['id']!)
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
    handle: async ({ automation, reader }) => {
      const show = await showingAutomations(services, automation.team, { reader })
      return { body: await show(requireExisting(automation)) }
    },
  })

export const changeAutomationRoute = (
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
    handle: (request) =>
      writing(
        (cause) =>
          runExclusive(async () => {
            const { body, principal } = request
            const automation = requireExisting(await automationInPath(services, request))
            const { scope } = automation.content
            for (const one of [scope, body.scope ?? scope])
              requireRole(services.access, principal, automation.team, roleFor(one))
            return changeAutomation(services, automation, body, cause)
          }),
        async ({ state }) => (await showingAutomations(services, state!.team, request))(state!),
      ),
  })

export const deleteAutomationRoute = (
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
        const automation = await automationInPath(services, request)
        requireRole(services.access, request.principal, automation.team, roleFor(automation.content.scope))
        const { position } = await deleteAutomation(services, automation, cause)
        return { body: {}, position }
      }),
  })
