import { TOKEN_COSTS, withCacheCosts } from '../../domain/prices/cache-costs.js'
import type { PriceEvent } from '../../domain/prices/events.js'
import { dateTime64 } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import { PRICE_COLUMNS, TEXT_COLUMNS, type PriceColumn } from './stored-price.js'

type Positioned = PriceEvent & Pick<ProjectedEvent, 'position'>

/** Columns by name; absent ones keep their values. */
type Row = Partial<Record<PriceColumn, string | null>>

/** One row for each price in a batch. */
export const pricesProjection: Projection = {
  name: 'prices',
  rowsOf: (events) => {
    const rows = new Map<string, Row>()
    for (const event of events as readonly Positioned[]) {
      const row = rowOf(event)
      if (row === undefined) continue
      const key = `${row.owner}\n${row.id}`
      rows.set(key, { ...rows.get(key), ...row })
    }
    if (rows.size === 0) return []
    const values = [...rows.values()].map((row) => PRICE_COLUMNS.map((column) => row[column] ?? null))
    return [{ table: 'prices', columns: PRICE_COLUMNS, values }]
  },
}

const rowOf = ({ type, data, position }: Positioned): Row | undefined => {
  switch (type) {
    case 'PricePublished': {
      const price = withCacheCosts(data)
      return {
        ...Object.fromEntries([...TEXT_COLUMNS, ...TOKEN_COSTS].map((column) => [column, price[column]])),
        owner: ownerOf(data),
        tiers: data.tiers === undefined ? '' : JSON.stringify(data.tiers),
        effective_date: dateTime64(data.effective_date),
        created_at: dateTime64(data.created_at),
        published_position: String(position),
      }
    }
    case 'PriceWithdrawn':
      return { owner: ownerOf(data), id: data.id, withdrawn_position: String(position) }
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
