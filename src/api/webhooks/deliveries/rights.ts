import type { Services } from '../../../application/services.js'
import type { Automation } from '../../../domain/webhooks/automations/decider.js'
import type { DeliveryHistory, AttemptRange } from '../../../domain/webhooks/deliveries/history.js'
import { hasRole, requireRole } from '../../../application/access/rights.js'
import { roleFor } from '../../../application/webhooks/checks.js'
import { readDelivery } from '../../../application/webhooks/deliveries.js'
import { automationInPath, requireExisting } from '../one-automation.js'
import type { Authorization } from '../../server/authorization.js'
import { Failure } from '../../../application/failure.js'
import type { RouteRequest } from '../../server/route.js'
import type { AnyRequest } from '../../server/run.js'

/** Requires membership in the team of the automation in the path, which must exist. */
export const ofExistingAutomation = (
  services: Pick<Services, 'eventStore' | 'ids' | 'access'>,
): Authorization<{ readonly automation: Automation }> => ({
  errors: ['not-found'],
  authorize: async (request) => ({ automation: requireExisting(await automationInPath(services, request)) }),
})

/** Requires the role that the automation's scope needs. */
export const requireManagementRole = (
  { access }: Pick<Services, 'access'>,
  { principal }: Pick<RouteRequest, 'principal'>,
  { team, content }: Pick<Automation, 'team' | 'content'>,
): void => requireRole(access, principal, team, roleFor(content.scope))

/** The delivery in the path, folded from its events, for members of its team. */
export const ofDelivery = (
  services: Pick<Services, 'eventStore' | 'access'>,
  attemptsOf: (request: AnyRequest) => AttemptRange = () => ({ most: 0, before: 0 }),
): Authorization<{ readonly delivery: DeliveryHistory }> => ({
  errors: ['not-found'],
  authorize: async (request) => {
    const attempts = attemptsOf(request)
    const delivery = await readDelivery(services, request.params['id']!, attempts)
    const team = delivery?.scheduled?.team ?? delivery?.suppressed?.team
    if (
      delivery === null ||
      team === undefined ||
      !hasRole(services.access, request.principal, team, 'member')
    )
      throw noSuchDelivery()
    return { delivery }
  },
})

export const noSuchDelivery = (): Failure =>
  new Failure('not-found', 'Delivery not found, or the API key has no access to its team.')
