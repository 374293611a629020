import { withCacheCosts } from '../../domain/prices/cache-costs.js'
import { priceEvents, type PriceEvent } from '../../domain/prices/events.js'
import { projectionOf, type Projected } from '../projection.js'
import type { RowOf } from '../table.js'
import { PRICES } from './tables.js'

type Row = RowOf<typeof PRICES>

/** One row for each price in a batch. */
export const pricesProjection = projectionOf('prices', priceEvents, (events) => {
  const rows = new Map<string, Row>()
  for (const event of events) {
    const row = rowOf(event)
    if (row === undefined) continue
    const key = `${row.owner}\n${row.id}`
    rows.set(key, { ...rows.get(key), ...row })
  }
  return [PRICES.rows([...rows.values()])]
})

const rowOf = ({ type, data, position }: Projected<PriceEvent>): Row | undefined => {
  switch (type) {
    case 'PricePublished':
      return {
        ...withCacheCosts(data),
        owner: ownerOf(data),
        tiers: data.tiers === undefined ? '' : JSON.stringify(data.tiers),
        published_position: position,
      }
    case 'PriceWithdrawn':
      return { owner: ownerOf(data), id: data.id, withdrawn_position: position }
    default:
      return undefined
  }
}

const ownerOf = ({
  project_id,
  list,
}: {
  readonly project_id: string | null
  readonly list: string | null
}) => project_id ?? list ?? ''
