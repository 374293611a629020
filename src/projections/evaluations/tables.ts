import { keyword, position, table, text, uint64 } from '../table.js'

/**
 * The rows of evaluation runs that have ended, with what comparisons read of them. They are made from calls, feedback and prices
 * behind the projector, and hold for one version of these: readers that find another one read the calls. They are in no digest.
 * Numbers are texts, because the engine does not read all digits of a double.
 */
export const EVALUATION_ROWS = table(
  'evaluation_rows',
  {
    project_id: keyword,
    run_id: text,
    place: uint64,
    /** Of the run, as `position` is: the rows of a version were inserted together. */
    version: keyword,
    row_count: uint64,
    row_id: text,
    example_digest: text,
    scores: text,
    latency: text,
    cost: text,
    position,
  },
  ['project_id', 'run_id', 'place'],
  { engine: 'ReplacingMergeTree(position)' },
)
