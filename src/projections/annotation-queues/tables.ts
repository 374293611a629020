import { boolean, erasable, instant, keyword, position, table, text, texts } from '../table.js'

/** One row for each event of a queue; the last one up to a position is its state there. */
export const QUEUES = table(
  'annotation_queues',
  {
    project_id: text,
    id: text,
    position,
    name: text,
    description: erasable(text, "''"),
    scorer_refs: texts,
    created_by: text,
    created_at: instant,
    updated_at: instant,
    is_deleted: boolean,
  },
  ['project_id', 'id', 'position'],
)

/** The calls in queues. What reviewers did with them is in {@link PROGRESS}. */
export const ITEMS = table(
  'annotation_queue_items',
  {
    project_id: text,
    queue_id: text,
    id: text,
    position,
    call_id: text,
    call_op_name: text,
    call_trace_id: text,
    call_started_at: instant,
    display_fields: texts,
    added_by: text,
    created_at: instant,
  },
  ['project_id', 'queue_id', 'id'],
)

/** The states that reviewers set, at most two an item. */
export const PROGRESS = table(
  'annotation_progress',
  {
    project_id: text,
    queue_id: text,
    item_id: text,
    position,
    state: keyword,
    annotator: text,
    updated_at: instant,
  },
  ['project_id', 'queue_id', 'item_id', 'position'],
)
