import { tableEvents } from '../../domain/tables/table.js'
import { payloadText } from '../clickhouse-values.js'
import { projectionOf } from '../projection.js'
import type { RowOf } from '../table.js'
import { ENTRIES, PUBLISHED, ROWS } from './tables.js'

/** Digests per row of `table_entries`. */
const DIGESTS = 4096

export const tablesProjection = projectionOf('tables', tableEvents, (events) => {
  const rows: RowOf<typeof ROWS>[] = []
  const entries: RowOf<typeof ENTRIES>[] = []
  const tables: RowOf<typeof PUBLISHED>[] = []
  for (const { type, data, position } of events)
    switch (type) {
      case 'TableRowsStored':
        for (const { digest, val } of data.rows ?? [])
          rows.push({ project_id: data.project_id, digest, val: payloadText(val), position })
        break
      case 'TablePublished': {
        const { project_id, digest: table_digest, row_digests: digests } = data
        for (let first_index = 0; first_index < (digests?.length ?? 0); first_index += DIGESTS) {
          const row_digests = digests!.slice(first_index, first_index + DIGESTS)
          entries.push({ project_id, table_digest, first_index, row_digests, position })
        }
        tables.push({ ...data, position })
      }
    }
  return [ROWS.rows(rows), ENTRIES.rows(entries), PUBLISHED.rows(tables)]
})
