import type { PriceEvent } from '../../../src/domain/price/events.js'
import type { ClickHouse } from '../../../src/domain/ports/clickhouse.js'
import { COST_COLUMNS, PRICE_COLUMNS } from '../../../src/projections/prices/stored-price.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'

type Row = Readonly<Record<string, unknown>>
type Positioned = PriceEvent & Pick<ProjectedEvent, 'position'>

const costs: readonly string[] = COST_COLUMNS

const SELECTED = PRICE_COLUMNS.map((column) =>
  costs.includes(column) ? `toString(${column})` : column,
).join(', ')

/** What the table holds of one project per event, in the order of the events; a project's number is its event's. */
export const readPrices = async (clickHouse: ClickHouse, entity: string): Promise<readonly Row[]> => {
  const rows = await clickHouse.writer.query<{ row: readonly unknown[] }>(
    `SELECT tuple(${SELECTED}) AS row FROM prices FINAL WHERE startsWith(owner, {prefix:String})
    ORDER BY toUInt32(splitByChar('/', owner)[2])`,
    { prefix: `${entity}/` },
  )
  return rows.map(({ row }) => Object.fromEntries(PRICE_COLUMNS.map((column, index) => [column, row[index]])))
}

export const expectedPrices = (events: readonly ProjectedEvent[]): readonly Row[] =>
  (events as readonly Positioned[]).flatMap((event): Row[] => {
    const position = Number(event.position)
    switch (event.type) {
      case 'PricePublished': {
        const { project_id: owner, list: _list, ...said } = event.data
        const dates = {
          effective_date: asDateTime(said.effective_date),
          created_at: asDateTime(said.created_at),
        }
        return [{ ...NOTHING, ...said, ...dates, owner, published_position: position }]
      }
      case 'PriceWithdrawn':
        return [{ ...NOTHING, owner: event.data.project_id, id: event.data.id, withdrawn_position: position }]
      default:
        return []
    }
  })

const NOTHING = Object.fromEntries(PRICE_COLUMNS.map((column) => [column, null]))

const asDateTime = (instant: string): string => instant.replace('T', ' ').replace('Z', '')
