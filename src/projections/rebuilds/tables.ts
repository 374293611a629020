import { instant, keyword, nullable, number, position, table, text, uint64, type Column } from '../table.js'

const texts: Column<Readonly<Record<string, string>>> = { type: 'Map(String, String)' }

/**
 * Requested rebuilds and their outcome. The row with the highest version counts: version 0 is the request in the log, so that a
 * replay never hides the outcome.
 */
export const REBUILDS = table(
  'rebuilds',
  {
    id: text,
    version: uint64,
    state: keyword,
    requested_position: position,
    requested_at: instant,
    requested_by: text,
    started_at: nullable(instant),
    finished_at: nullable(instant),
    reached: position,
    target: position,
    events: uint64,
    events_per_second: number,
    remaining_seconds: nullable(number),
    rebuilt: texts,
    reason: nullable(text),
  },
  ['id'],
  { engine: 'ReplacingMergeTree(version)' },
)
