import { ITEMS, PROGRESS, QUEUES } from './annotation-queues/tables.js'
import { MAKERS, VERSIONS } from './artifacts/tables.js'
import { CALL_INDEX, CALLS } from './calls/tables.js'
import { WITHOUT_FIGURES } from './erasures/without-figures.js'
import { EVALUATION_ROWS } from './evaluations/tables.js'
import { FEEDBACK } from './feedback/tables.js'
import { FILES } from './files/tables.js'
import { OBJECT_ALIASES, OBJECT_TAGS, OBJECT_VERSIONS } from './objects/tables.js'
import { PRICES } from './prices/tables.js'
import { END_USER_ATTRIBUTES, PROJECTS } from './projects/tables.js'
import { REBUILDS } from './rebuilds/tables.js'
import { ARTIFACT_USES, RUN_CHANGES, RUN_SUMMARIES } from './runs/tables.js'
import { CHECKPOINTS, EVENT_TIMES, QUARANTINE, SCHEMA_VERSIONS } from './runtime/tables.js'
import { ENTRIES, PUBLISHED, ROWS } from './tables/tables.js'
import { FACTS, REPORTING, USAGE_TOTALS } from './usage/tables.js'
import { CHANGES, DELIVERIES } from './webhooks/tables.js'

/** The tables of the read models. */
const TABLES = [
  ...[QUEUES, ITEMS, PROGRESS, CALLS, CALL_INDEX, FACTS, REPORTING, USAGE_TOTALS, ROWS, ENTRIES, PUBLISHED],
  ...[VERSIONS, MAKERS, FILES, PROJECTS, DELIVERIES, CHANGES, FEEDBACK, OBJECT_ALIASES, OBJECT_TAGS],
  ...[OBJECT_VERSIONS, PRICES, REBUILDS, ARTIFACT_USES, RUN_CHANGES, RUN_SUMMARIES, EVALUATION_ROWS],
  ...[WITHOUT_FIGURES, END_USER_ATTRIBUTES, CHECKPOINTS, EVENT_TIMES, QUARANTINE, SCHEMA_VERSIONS],
]

/** The statement that creates each table, by its name. */
export const tableStatements: ReadonlyMap<string, string> = new Map(
  TABLES.map(({ name, statement }) => [name, statement] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
)
