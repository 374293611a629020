import type { Ports } from '../../domain/ports/ports.js'
import { repeatableId } from '../access/idempotency.js'
import type { RouteRequest } from '../route.js'

/**
 * The id of the event that a request writes about something: the same for the same user's repeat with the same
 * `Idempotency-Key`; undefined without one.
 */
export const eventIdFor = (
  ports: Pick<Ports, 'ids' | 'sha256'>,
  { headers, principal }: Pick<RouteRequest<unknown>, 'headers' | 'principal'>,
  about: string,
): string | undefined => {
  const key = headers['idempotency-key']
  return key === undefined ? undefined : asUuid(repeatableId(ports, `${principal.userId}\n${about}`, key))
}

const asUuid = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')

/** Whether a stream has an event of this id. */
export const wroteBefore = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  stream: string,
  eventId: string,
): Promise<boolean> => {
  for await (const { id } of eventStore.readStream(stream, { backwards: true }))
    if (id === eventId) return true
  return false
}
