import { missingRight } from '../../domain/access/rights.js'
import { noSuchAutomation, type Automation } from '../../domain/automation/decider.js'
import { accountOf, type Account, type AttemptRange } from '../../domain/delivery/account.js'
import { deliveryStream } from '../../domain/delivery/events.js'
import { id as idCodec } from '../../domain/ids.js'
import { requireRole } from '../auth/rights.js'
import { roleFor } from '../automations/checks.js'
import { automationById } from '../automations/kept.js'
import { Failure } from '../failure.js'
import type { RouteRequest } from '../route.js'
import type { Deliveries } from './deliveries.js'

type Addressed = Pick<RouteRequest<unknown>, 'params' | 'principal' | 'cause'>
type Parts = Pick<Deliveries, 'ports' | 'access'>

/** The automation that a path names, for members of its team; those that were deleted keep their deliveries. */
export const automationInPath = async (
  { ports, access }: Parts,
  { params, principal, cause }: Addressed,
): Promise<Automation> => {
  const automation = await automationById(ports, params['id']!, cause)
  const outside =
    automation === null || missingRight(access.directory(), principal.userId, automation.team, 'member')
  if (automation === null || outside !== undefined)
    throw new Failure(noSuchAutomation.kind, noSuchAutomation.reason)
  return automation
}

/** The same as {@link automationInPath}, and nothing that was deleted. */
export const standingAutomationInPath = async (parts: Parts, asked: Addressed): Promise<Automation> => {
  const automation = await automationInPath(parts, asked)
  if (automation.deleted) throw new Failure(noSuchAutomation.kind, noSuchAutomation.reason)
  return automation
}

/** Refuses members of the automation's team who lack the role that its scope needs. */
export const requireManaging = (
  { access }: Parts,
  { principal }: Pick<Addressed, 'principal'>,
  { team, content }: Pick<Automation, 'team' | 'content'>,
): void => requireRole(access, principal, team, roleFor(content.scope))

/** The delivery that a path names, folded from its own events, for members of its team. */
export const deliveryInPath = async (
  { ports, access }: Parts,
  { params, principal }: Addressed,
  attempts: AttemptRange = { most: 0, before: 0 },
): Promise<Account> => {
  const id = params['id']!
  const stream = deliveryStream(id)
  const account = idCodec.is(id) ? await accountOf(ports.eventStore.readStream(stream), attempts) : null
  const team = account?.scheduled?.team ?? account?.suppressed?.team
  const outside =
    team === undefined || missingRight(access.directory(), principal.userId, team, 'member') !== undefined
  if (account === null || outside)
    throw new Failure('not-found', 'Delivery not found, or the API key has no access to its team.')
  return account
}
