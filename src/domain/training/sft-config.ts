import * as t from 'io-ts'
import { nullable, withDefault } from '../../kernel/codec/containers.js'
import { Codec, refuse } from '../../kernel/codec/codec.js'
import { integerBetween, jsonObject, oneOf } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'

/** Of a list of learning rates: the configuration is in an event. */
const MAX_BATCHES = 20_000
const AUTO_BATCH = 2

const isRate = (u: unknown): u is number => typeof u === 'number' && Number.isFinite(u) && u >= 0

/** One for all batches, or one for each. */
const learningRate = new Codec<number | readonly number[]>(
  'learning rate',
  (u): u is number | readonly number[] => isRate(u) || (Array.isArray(u) && u.every(isRate)),
  (u, context) =>
    isRate(u) || (Array.isArray(u) && u.length <= MAX_BATCHES && u.every(isRate))
      ? t.success(u)
      : refuse(u, context, 'value_error', 'Input should be a number of at least 0, or a list of them'),
  {
    anyOf: [
      { type: 'number', minimum: 0 },
      { type: 'array', items: { type: 'number', minimum: 0 } },
    ],
  },
)

const batchSize = new Codec<number>(
  'batch size',
  (u): u is number => integerBetween(1, 10_000).is(u),
  (u, context) => (u === 'auto' ? t.success(AUTO_BATCH) : integerBetween(1, 10_000).validate(u, context)),
  { anyOf: [{ type: 'integer', minimum: 1, maximum: 10_000 }, { const: 'auto' }] },
)

const OPTIONS = {
  batch_size: withDefault(batchSize, AUTO_BATCH, true),
  learning_rate: withDefault(learningRate, 5e-5, true),
  /** How often the conversations are trained on. */
  epochs: withDefault(integerBetween(1, 1000), 1, true),
  /** Whether all messages of the assistant are trained on, or the last of each conversation. */
  assistant_turns: withDefault(oneOf('all', 'last'), 'all' as const, true),
  /** `{"enabled": true, "target_training_step": n}` logs metrics to the run of the model. */
  metric_logging: nullable(jsonObject),
}

export const SFT_OPTIONS: readonly string[] = Object.keys(OPTIONS)

export const sftConfig = open('SftTrainingConfig', { optional: OPTIONS })
