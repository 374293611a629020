import type { Json } from '../../../kernel/json/json.js'

export interface VariableInfo {
  readonly type: 'text' | 'number' | 'json'
  readonly example: Json
}

const text = (example: string): VariableInfo => ({ type: 'text', example })
const number = (example: number): VariableInfo => ({ type: 'number', example })

/** The documented variables, and this service's additions for runs, calls, webhooks and deliveries. */
export const VARIABLES = {
  project_name: text('models'),
  entity_name: text('acme'),
  event_type: text('ADD_ARTIFACT_ALIAS'),
  event_author: text('ada'),
  alias: text('production'),
  tag: text('reviewed'),
  artifact_collection_name: text('classifier'),
  artifact_version: text('vendor-artifact://_id/QXJ0aWZhY3Q6NTE3ODg5ODg3'),
  artifact_version_string: text('acme/models/classifier:production'),
  run_id: text('4f3k2j1h'),
  run_name: text('nightly'),
  run_state: text('FINISHED'),
  metric_name: text('loss'),
  metric_value: number(0.25),
  threshold: number(0.5),
  call_id: text('01a2187f-48f7-70f1-9320-ec2c652f4fb5'),
  call_url: text('https://traces.example/acme/models/calls/01a2187f-48f7-70f1-9320-ec2c652f4fb5'),
  webhook_id: text('01a2187f-48f7-70f1-9320-ec2c652f4fb5'),
  delivery_id: text('dlv_mz4wk3dfon2gk4tz'),
  reason: text('exhausted'),
} as const satisfies Readonly<Record<string, VariableInfo>>

export type VariableName = keyof typeof VARIABLES

export const VARIABLE_NAMES = Object.keys(VARIABLES) as readonly VariableName[]

export const METADATA_PREFIX = 'artifact_metadata.'

/** A metadata key that can be written unescaped in a JSON string, up to the closing brace. */
const METADATA_KEY = /^[^"\\{}\p{Cc}]{1,256}$/u

/** Whether a variable exists. Any top-level metadata key may be named. */
export const isVariable = (name: string): boolean =>
  Object.hasOwn(VARIABLES, name) ||
  (name.startsWith(METADATA_PREFIX) && METADATA_KEY.test(name.slice(METADATA_PREFIX.length)))

/** Values by variable name; a missing one is unresolved. */
export type Variables = Readonly<Record<string, Json>>
