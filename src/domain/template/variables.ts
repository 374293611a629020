import type { Json } from '../json/json.js'

/** What templates may name, and what we add for runs, calls, webhooks and deliveries. */
const NAMES: ReadonlySet<string> = new Set([
  'project_name',
  'entity_name',
  'event_type',
  'event_author',
  'alias',
  'tag',
  'artifact_collection_name',
  'artifact_version',
  'artifact_version_string',
  'run_id',
  'run_name',
  'run_state',
  'metric_name',
  'metric_value',
  'threshold',
  'call_id',
  'webhook_id',
  'delivery_id',
  'reason',
])

export const METADATA_PREFIX = 'artifact_metadata.'

/** Keys that a template can write as they are: inside a JSON string, and up to the closing brace. */
const METADATA_KEY = /^[^"\\{}\p{Cc}]{1,256}$/u

/** Whether there is a variable of this name; of metadata, any top-level key may be named. */
export const isVariable = (name: string): boolean =>
  NAMES.has(name) ||
  (name.startsWith(METADATA_PREFIX) && METADATA_KEY.test(name.slice(METADATA_PREFIX.length)))

/** What variables stand for, by name; one that is missing is unresolved. */
export type Variables = Readonly<Record<string, Json>>
