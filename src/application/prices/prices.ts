import type { ImportPrices, OfferedPrice, PublishPrices } from '../../domain/prices/commands.js'
import { priceDecider } from '../../domain/prices/decider.js'
import { priceStream } from '../../domain/prices/events.js'
import { recognised } from '../../domain/prices/state.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { execute } from '../../kernel/execute.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { throwIfRefused } from '../access/rights.js'

type PricePorts = Pick<Ports, 'eventStore' | 'ids' | 'clock'>

/** Sets prices of a project; returns the id of each, or of an earlier identical one. */
export const publishPrices =
  (ports: PricePorts, project_id: string, prices: PublishPrices['prices']) => async (cause: Cause) => {
    const owner = { project_id, list: null }
    const now = instantOf(ports.clock.now())
    const command = { type: 'PublishPrices', owner, prices, userId: cause.actor, now } as const
    const executed = await execute(ports)(priceDecider, priceStream(owner), [command], cause)
    throwIfRefused(executed.refusals.get(0))
    const { state } = executed
    const idOf = (id: string, price: OfferedPrice) =>
      state.known.has(id) ? id : (recognised(state, price, now)?.id ?? id)
    return { ...executed, ids: prices.map(({ id, price }) => [idOf(id, price), price.llm_id]) }
  }

export const withdrawPrices =
  (ports: PricePorts, project_id: string, ids: readonly string[]) => (cause: Cause) => {
    const owner = { project_id, list: null }
    const commands = [...new Set(ids)].map((id) => ({ type: 'WithdrawPrice', owner, id }) as const)
    return execute(ports)(priceDecider, priceStream(owner), commands, cause, { splitAppends: true })
  }

/** Replaces a list. `PriceListImported` comes last, so that a retry completes an interrupted import. */
export const importPrices = (
  ports: PricePorts,
  {
    prices,
    ...list
  }: Omit<ImportPrices, 'type' | 'prices' | 'userId' | 'now'> & {
    readonly prices: readonly ImportPrices['prices'][number]['price'][]
  },
  cause: Cause,
) => {
  const command = {
    type: 'ImportPrices',
    ...list,
    prices: prices.map((price) => ({ id: ports.ids.next(), price })),
    userId: cause.actor,
    now: instantOf(ports.clock.now()),
  } as const
  const stream = priceStream({ project_id: null, list: list.list })
  return execute(ports)(priceDecider, stream, [command], cause, { splitAppends: true })
}
