import { ITEMS, PROGRESS, QUEUES } from './annotation-queues/tables.js'
import { MAKERS, VERSIONS } from './artifacts/tables.js'
import { CALL_INDEX, CALLS } from './calls/tables.js'
import { FILES } from './files/tables.js'
import { PROJECTS } from './projects/tables.js'
import { ENTRIES, PUBLISHED, ROWS } from './tables/tables.js'
import { FACTS, REPORTING, USAGE_TOTALS } from './usage/tables.js'
import { CHANGES, DELIVERIES } from './webhooks/tables.js'

/** The tables of the read models that are not in `schema`. */
export const TABLES = [
  QUEUES,
  ITEMS,
  PROGRESS,
  CALLS,
  CALL_INDEX,
  FACTS,
  REPORTING,
  USAGE_TOTALS,
  ROWS,
  ENTRIES,
  PUBLISHED,
  VERSIONS,
  MAKERS,
  FILES,
  PROJECTS,
  DELIVERIES,
  CHANGES,
]
