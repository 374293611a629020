import { callRef } from '../../domain/refs/ref.js'
import type { ClickHouseReads } from '../../kernel/ports/clickhouse.js'
import { listed, select, sql } from '../sql.js'

/** The ids of all feedback on some calls, purged and replaced feedback too. */
export const feedbackIdsOn = async (
  reader: Pick<ClickHouseReads, 'query'>,
  projectId: string,
  callIds: readonly string[],
): Promise<readonly string[]> => {
  if (callIds.length === 0) return []
  const refs = callIds.map((id) => callRef(projectId, id))
  const rows = await select<{ id: string }>(
    reader,
    sql`SELECT DISTINCT id FROM feedback WHERE project_id = ${projectId} AND weave_ref IN ${refs} ORDER BY id`,
  )
  return rows.map(({ id }) => id)
}

/** The ids of the items that some calls are in annotation queues as. */
export const queueItemsOf = async (
  reader: Pick<ClickHouseReads, 'query'>,
  projectId: string,
  callIds: readonly string[],
): Promise<readonly string[]> => {
  const rows = await select<{ id: string }>(
    reader,
    sql`SELECT DISTINCT id FROM annotation_queue_items
    WHERE project_id = ${projectId} AND call_id IN ${listed(callIds)} ORDER BY id`,
  )
  return rows.map(({ id }) => id)
}
