import { sql, type Sql } from '../sql.js'

/** The field of calls with the annotation queues that a call is in. */
export const QUEUE_FIELD = 'annotation_queue_items.queue_id'

/** The queues at a position, a placeholder, that are not deleted and meet a condition. */
export const queuesAsOf = (condition: Sql): Sql =>
  sql`SELECT * EXCEPT (project_id, position, is_deleted) FROM (
    SELECT * FROM annotation_queues WHERE ${condition} AND position <= {position:UInt64}
    ORDER BY position DESC LIMIT 1 BY id
  ) WHERE NOT is_deleted`

/** Whether the queue of an item is not deleted. */
export const LIVE_QUEUES = sql`queue_id IN (SELECT id FROM (${queuesAsOf(sql`project_id = {project:String}`)}))`
