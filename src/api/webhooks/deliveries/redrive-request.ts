import type { Services } from '../../../application/services.js'
import type { Automation } from '../../../domain/webhooks/automations/decider.js'
import { execute } from '../../../kernel/execute.js'
import type { Position } from '../../../kernel/ports/event-store.js'
import { redriveDecider } from '../../../domain/webhooks/redrives/decider.js'
import { redriveStream, type RedriveAsked } from '../../../domain/webhooks/redrives/events.js'
import { repeatableId } from '../../server/idempotency.js'
import { throwIfRefused } from '../../../application/access/rights.js'
import type { RouteRequest } from '../../server/route.js'

type RedriveSelection = Omit<RedriveAsked, 'id' | 'team' | 'automation_id'>

/**
 * The position at which a redrive was first requested with this `Idempotency-Key`, by this request or by the one that
 * it retries. Both then select deliveries as of that position. Undefined without a key.
 *
 * @throws Failure, a conflict if the key was used for another redrive
 */
export const redriveRequestedAt = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'sha256'>,
  { headers, principal, cause }: Pick<RouteRequest<unknown>, 'headers' | 'principal' | 'cause'>,
  { id: automation_id, team }: Pick<Automation, 'id' | 'team'>,
  { states, limit, reason, from, to, after }: RedriveSelection,
): Promise<Position | undefined> => {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  const id = repeatableId(services, `${principal.userId}\n${automation_id}\nredrive`, key)
  const redrive = { id, team, automation_id, states, limit, reason, from, to, after }
  const command = { type: 'AskRedrive', redrive } as const
  const { refusals } = await execute(services)(redriveDecider, redriveStream(id), [command], cause)
  throwIfRefused(refusals.get(0))
  for await (const { position } of services.eventStore.readStream(redriveStream(id), { limit: 1 }))
    return position
  return undefined
}
