import type { TableEvent } from '../../domain/tables/table.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import { payloadText } from '../clickhouse-values.js'

type Positioned = TableEvent & Pick<ProjectedEvent, 'position'>

/** Entries per row of `table_entries`. */
const ENTRIES = 4096

export const tablesProjection: Projection = {
  name: 'tables',
  rowsOf: (events) => {
    const contents: unknown[][] = []
    const entries: unknown[][] = []
    const tables: unknown[][] = []
    for (const { type, data, position: at } of events as readonly Positioned[]) {
      const position = String(at)
      switch (type) {
        case 'TableRowsStored':
          for (const { digest, val } of data.rows ?? [])
            contents.push([data.project_id, digest, payloadText(val), position])
          break
        case 'TablePublished': {
          const { project_id, digest, row_count } = data
          const digests = data.row_digests ?? []
          for (let first = 0; first < digests.length; first += ENTRIES)
            entries.push([project_id, digest, first, digests.slice(first, first + ENTRIES), position])
          tables.push([project_id, digest, String(row_count), position])
        }
      }
    }
    return [
      { table: 'table_rows', columns: ['project_id', 'digest', 'val', 'position'], values: contents },
      {
        table: 'table_entries',
        columns: ['project_id', 'table_digest', 'first_index', 'row_digests', 'position'],
        values: entries,
      },
      { table: 'tables', columns: ['project_id', 'digest', 'row_count', 'position'], values: tables },
    ].filter(({ values }) => values.length > 0)
  },
}
