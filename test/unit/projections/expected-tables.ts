import type { Json } from '../../../src/domain/json/json.js'
import type { ClickHouse } from '../../../src/domain/ports/clickhouse.js'
import type { TableEvent } from '../../../src/domain/table/events.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'

type Positioned = TableEvent & Pick<ProjectedEvent, 'position'>

interface TableRows {
  readonly contents: readonly { readonly digest: string; readonly val: Json; readonly position: number }[]
  readonly entries: readonly { readonly digest: string; readonly rows: readonly string[] }[]
  readonly tables: readonly {
    readonly digest: string
    readonly row_count: number
    readonly position: number
  }[]
}

/** What the tables hold of one project per event, in the order of the events; a project's number is its event's. */
export const readTables = async (clickHouse: ClickHouse, entity: string): Promise<TableRows> => {
  const read = <Row>(columns: string, table: string, order: string) =>
    clickHouse.writer.query<Row>(
      `SELECT ${columns} FROM ${table} FINAL WHERE startsWith(project_id, {prefix:String})
      ORDER BY toUInt32(splitByChar('/', project_id)[2]), ${order}`,
      { prefix: `${entity}/` },
    )
  const contents = await read<{ digest: string; val: string; position: number }>(
    'digest, val, position',
    'table_rows',
    'digest',
  )
  return {
    contents: contents.map((row) => ({ ...row, val: JSON.parse(row.val) as Json })),
    entries: await read('table_digest AS digest, row_digests AS rows', 'table_entries', 'first_index'),
    tables: await read('digest, row_count, position', 'tables', 'digest'),
  }
}

export const expectedTables = (events: readonly ProjectedEvent[]): TableRows => {
  const happened = events as readonly Positioned[]
  return {
    contents: happened.flatMap((event) => {
      if (event.type !== 'TableRowsStored') return []
      const rows = new Map<string, Json>()
      for (const { digest, val } of event.data.rows ?? []) if (!rows.has(digest)) rows.set(digest, val)
      return [...rows]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([digest, val]) => ({ digest, val, position: Number(event.position) }))
    }),
    entries: happened.flatMap((event) => {
      if (event.type !== 'TablePublished' || (event.data.row_digests ?? []).length === 0) return []
      return [{ digest: event.data.digest, rows: event.data.row_digests! }]
    }),
    tables: happened.flatMap(({ type, data, position }) =>
      type === 'TablePublished'
        ? [{ digest: data.digest, row_count: data.row_count, position: Number(position) }]
        : [],
    ),
  }
}
