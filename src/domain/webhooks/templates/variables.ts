import type { Json } from '../../../kernel/json/json.js'

/** The documented variables, and this service's additions for runs, calls, webhooks and deliveries. */
export const VARIABLE_NAMES = [
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
] as const

const NAMES: ReadonlySet<string> = new Set(VARIABLE_NAMES)

export const METADATA_PREFIX = 'artifact_metadata.'

/** A metadata key that can be written unescaped in a JSON string, up to the closing brace. */
const METADATA_KEY = /^[^"\\{}\p{Cc}]{1,256}$/u

/** Whether a variable exists. Any top-level metadata key may be named. */
export const isVariable = (name: string): boolean =>
  NAMES.has(name) ||
  (name.startsWith(METADATA_PREFIX) && METADATA_KEY.test(name.slice(METADATA_PREFIX.length)))

/** Values by variable name; a missing one is unresolved. */
export type Variables = Readonly<Record<string, Json>>
