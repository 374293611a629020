/** The field of calls with the annotation queues that a call is in. */
export const QUEUE_FIELD = 'annotation_queue_items.queue_id'

/** The queues of a project at a position, both of which are parameters, that are not deleted. `queues` is a condition on `id`. */
export const queuesAsOf = (queues = 'true'): string =>
  `SELECT * EXCEPT (project_id, position, is_deleted) FROM (
    SELECT * FROM annotation_queues
    WHERE project_id = {project:String} AND position <= {position:UInt64} AND ${queues}
    ORDER BY position DESC LIMIT 1 BY id
  ) WHERE NOT is_deleted`

/** Whether the queue of an item is not deleted. */
export const LIVE_QUEUES = `queue_id IN (SELECT id FROM (${queuesAsOf()}))`
