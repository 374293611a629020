import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import { priceDecider } from '../../domain/prices/decider.js'
import { priceStream } from '../../domain/prices/events.js'
import type { GatewayServices } from '../gateway.js'
import { priceListOf, pricesOf } from '../../domain/gateway/upstreams/prices.js'

/** Makes what the upstreams of an owner cost the prices of their models, from now on; what is in force stays. */
export const publishPrices = async (
  services: Pick<GatewayServices, 'eventStore' | 'clock' | 'ids' | 'gateway'>,
  team: string | null,
  cause: Cause,
): Promise<void> => {
  const upstreams = services.gateway.upstreams.all()
  const prices = pricesOf(upstreams, team).map((price) => ({ id: services.ids.next(), price }))
  if (prices.length === 0) return
  const owner = { project_id: null, list: priceListOf(team) }
  const now = instantOf(services.clock.now())
  const command = { type: 'PublishPrices', owner, prices, userId: cause.actor, now } as const
  await execute(services)(priceDecider, priceStream(owner), [command], cause, { splitAppends: true })
}
