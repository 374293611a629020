import type { Services } from '../../../application/services.js'
import type { Ports } from '../../../kernel/ports/ports.js'
import { idFromKey } from '../../server/idempotency.js'
import type { RouteRequest } from '../../server/route.js'

/**
 * Derives an event id from the `Idempotency-Key`, so that a retry by the same user writes the same event. Undefined
 * without a key.
 */
export const eventIdFor = (
  services: Pick<Services, 'sha256'>,
  request: Pick<RouteRequest<unknown>, 'headers' | 'principal'>,
  ...about: readonly string[]
): string | undefined => {
  const id = idFromKey(services, request, ...about)
  return id && asUuid(id)
}

const asUuid = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')

export const hasEvent = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  stream: string,
  eventId: string,
): Promise<boolean> => {
  for await (const { id } of eventStore.readStream(stream, { backwards: true }))
    if (id === eventId) return true
  return false
}
