import type { SqlParameters } from '../../kernel/ports/clickhouse.js'
import { raw, sql, statementOf, type Sql } from '../sql.js'

/** The field of calls with the annotation queues that a call is in. */
export const QUEUE_FIELD = 'annotation_queue_items.queue_id'

/** The queues of a project at a position, both of which are placeholders, that are not deleted. `queues` is a condition on `id`. */
export const queuesAsOf = (queues: Sql, at: SqlParameters = {}): Sql =>
  sql`SELECT * EXCEPT (project_id, position, is_deleted) FROM (
    SELECT * FROM annotation_queues
    WHERE ${raw('project_id = {project:String} AND position <= {position:UInt64}', at)} AND ${queues}
    ORDER BY position DESC LIMIT 1 BY id
  ) WHERE NOT is_deleted`

/** Whether the queue of an item is not deleted. */
export const LIVE_QUEUES = `queue_id IN (SELECT id FROM (${statementOf(queuesAsOf(sql`true`)).text}))`
