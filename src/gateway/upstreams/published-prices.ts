import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { priceDecider } from '../../domain/prices/decider.js'
import { priceStream } from '../../domain/prices/events.js'
import type { Upstreams } from '../../domain/gateway/upstreams/directory.js'
import { priceListOf, pricesOf } from '../../domain/gateway/upstreams/prices.js'

/** Makes what the upstreams of an owner cost the prices of their models, from now on; what is in force stays. */
export const publishPrices =
  (ports: Pick<Ports, 'eventStore' | 'ids' | 'clock'>, upstreams: () => Upstreams) =>
  async (team: string | null, cause: Cause): Promise<void> => {
    const prices = pricesOf(upstreams(), team).map((price) => ({ id: ports.ids.next(), price }))
    if (prices.length === 0) return
    const owner = { project_id: null, list: priceListOf(team) }
    const now = instantOf(ports.clock.now())
    const command = { type: 'PublishPrices', owner, prices, userId: cause.actor, now } as const
    await execute(ports)(priceDecider, priceStream(owner), [command], cause, { splitAppends: true })
  }
