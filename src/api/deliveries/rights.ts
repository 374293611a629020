import { missingRight } from '../../domain/access/rights.js'
import type { Automation } from '../../domain/automation/decider.js'
import { deliveryHistory, type DeliveryHistory, type AttemptRange } from '../../domain/delivery/history.js'
import { deliveryStream } from '../../domain/delivery/events.js'
import { id as idCodec } from '../../domain/ids.js'
import { requireRole } from '../auth/rights.js'
import { roleFor } from '../automations/checks.js'
import { automationInPath, standing } from '../automations/one-automation.js'
import type { Authorization } from '../authorization.js'
import { Failure } from '../failure.js'
import type { RouteRequest } from '../route.js'
import type { AnyRequest } from '../run.js'
import type { Deliveries } from './deliveries.js'

type Parts = Pick<Deliveries, 'ports' | 'access'>

/** The automation that a path names, for members of its team, unless it was deleted. */
export const ofStandingAutomation = (parts: Parts): Authorization<{ readonly automation: Automation }> => ({
  errors: ['not-found'],
  authorize: async (request) => ({ automation: standing(await automationInPath(parts, request)) }),
})

/** Refuses members of the automation's team who lack the role that its scope needs. */
export const requireManaging = (
  { access }: Parts,
  { principal }: Pick<RouteRequest, 'principal'>,
  { team, content }: Pick<Automation, 'team' | 'content'>,
): void => requireRole(access, principal, team, roleFor(content.scope))

/** The delivery that a path names, folded from its own events, for members of its team. */
export const ofDelivery = (
  { ports, access }: Parts,
  attemptsOf: (request: AnyRequest) => AttemptRange = () => ({ most: 0, before: 0 }),
): Authorization<{ readonly account: DeliveryHistory }> => ({
  errors: ['not-found'],
  authorize: async (request) => {
    const attempts = attemptsOf(request)
    const id = request.params['id']!
    const stream = deliveryStream(id)
    const account = idCodec.is(id)
      ? await deliveryHistory(ports.eventStore.readStream(stream), attempts)
      : null
    const team = account?.scheduled?.team ?? account?.suppressed?.team
    const { userId } = request.principal
    const outside =
      team === undefined || missingRight(access.directory(), userId, team, 'member') !== undefined
    if (account === null || outside)
      throw new Failure('not-found', 'Delivery not found, or the API key has no access to its team.')
    return { account }
  },
})
