import type { AutomationContent } from '../../../../../../src/domain/webhooks/automations/events.js'
import { automationContent } from '../../../../../../src/domain/webhooks/automations/events.js'
import type { AutomationVersion } from '../../../../../../src/domain/webhooks/automations/state.js'
import { triggerOf } from '../../../../../../src/domain/webhooks/automations/matching/trigger-of.js'
import type { Trigger } from '../../../../../../src/domain/webhooks/automations/matching/trigger.js'
import type { Codec } from '../../../../../../src/kernel/codec/codec.js'
import type { Json, JsonObject } from '../../../../../../src/kernel/json/json.js'
import type { RecordedEvent } from '../../../../../../src/kernel/ports/event-store.js'

export const complete = <A>(codec: Codec<A>, value: unknown): A => {
  const decoded = codec.decode(value)
  if (decoded._tag === 'Left') throw new Error(JSON.stringify(decoded.left.map(({ message }) => message)))
  return decoded.right
}

export const contentOf = (event: object, more: object = {}): AutomationContent =>
  complete(automationContent, {
    name: 'a',
    webhook: 'w',
    payload: '{}',
    scope: { type: 'project', entity: 'team', project: 'p' },
    event,
    ...more,
  })

export const versionOf = (
  content: AutomationContent,
  more: Partial<AutomationVersion> = {},
): AutomationVersion => ({
  id: 'automation',
  team: 'team',
  content,
  enabled: true,
  deleted: false,
  since: 0n,
  revision: 0n,
  conditionsSince: 0n,
  ...more,
})

export const recorded = (
  stream: string,
  type: string,
  data: JsonObject,
  { position = 1n, at = 0, revision = 0n }: { position?: bigint; at?: number; revision?: bigint } = {},
): RecordedEvent => ({
  id: `event-${position}`,
  type,
  data,
  stream,
  revision,
  position,
  recordedAt: new Date(at),
  size: 0,
  metadata: { correlationId: 'c', causationId: 'c', actor: 'ada', schemaVersion: 1 },
})

export const ofProject = { team: 'team', project_id: 'team/p', collection: 'model', version: 3 }
export const ofRegistry = { team: 'team', registry: 'models', collection: 'model', version: 3 }
export const IN_PROJECT = 'artifact-team/p/model'
export const IN_REGISTRY = 'registered-team/models/model'

export const source = { project_id: 'team/p', collection: 'model', version: 1, artifact_id: 'art-1' }
const run = { project_id: 'team/p', run_id: 'r', name: 'exp-7', user: 'ada' }

export const runEvent = (type: string, data: JsonObject, more?: Parameters<typeof recorded>[3]) => {
  const whole = { ...run, ...data }
  return recorded(`run-${whole.project_id}/${whole.run_id}`, type, whole, more)
}

export const metricsEvent = (
  metrics: JsonObject,
  data: JsonObject = {},
  more?: Parameters<typeof recorded>[3],
) => runEvent('MetricsLogged', { metrics, ...data }, more)

export const runFinished = (more: JsonObject = {}) =>
  recorded('evaluation-team/p/r', 'EvaluationRunFinished', {
    project_id: 'team/p',
    id: 'r',
    kind: 'logged',
    outcome: 'completed',
    finished_at: '2026-01-01T00:00:00.000000Z',
    display_name: 'nightly',
    evaluation: 'weave:///team/p/object/capitals:v1',
    summary: { exact: { true_fraction: 0.5 }, length: { mean: 7 } },
    ...more,
  })

export const scoreGiven = (output: Json, more: JsonObject = {}) =>
  recorded('feedback-team/p/f', 'FeedbackGiven', {
    project_id: 'team/p',
    id: 'f',
    weave_ref: 'weave:///team/p/call/c',
    feedback_type: 'wandb.runnable.exact',
    payload: { output },
    created_at: '2026-01-01T00:00:00.000000Z',
    ...more,
  })

export const triggerFrom = (event: RecordedEvent): Trigger => {
  const trigger = triggerOf(event)
  if (trigger === undefined) throw new Error(`${event.type} is no trigger`)
  return trigger
}
