import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import { metricName } from '../runs/events.js'
import type { StepMetrics } from './events.js'

/** What a fine-tuning job asks the service to log to the run of its model. */
export interface MetricLogging {
  /** The step of the checkpoint that the client expects. */
  readonly targetStep: number | null
}

/** Null if the job does not ask for it. */
export const metricLoggingIn = (config: JsonObject): MetricLogging | null => {
  const asked = config['metric_logging']
  if (!isJsonObject(asked) || asked['enabled'] !== true) return null
  const target = asked['target_training_step']
  return { targetStep: typeof target === 'number' && Number.isFinite(target) ? target : null }
}

/** The names under which clients that log themselves show the means of a job. */
const NAMES: Readonly<Record<string, string>> = {
  loss: 'loss/train',
  grad_norm: 'loss/grad_norm',
  learning_rate: 'loss/learning_rate',
  num_trajectories: 'data/step_num_trajectories',
  num_trainable_tokens: 'data/step_trainable_assistant_tokens',
}

const named = (metrics: StepMetrics, nameOf: (name: string) => string): StepMetrics =>
  Object.fromEntries(
    Object.entries(metrics)
      .map(([name, value]) => [nameOf(name), value] as const)
      .filter(([name]) => metricName.is(name)),
  )

const withTarget = ({ targetStep }: MetricLogging): StepMetrics =>
  targetStep === null ? {} : { training_step: targetStep }

/** The row of a gradient step, which counts from 1. */
export const stepRow = (logging: MetricLogging, step: number, metrics: StepMetrics): StepMetrics => ({
  ...named(metrics, (name) => `sft/${name}`),
  'sft/gradient_step': step,
  ...withTarget(logging),
})

/** The row of the job's checkpoint. */
export const checkpointRow = (logging: MetricLogging, means: StepMetrics): StepMetrics => ({
  ...named(means, (name) => NAMES[name] ?? (name.includes('/') ? name : `train/${name}`)),
  ...withTarget(logging),
})
