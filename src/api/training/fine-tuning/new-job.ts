import type * as t from 'io-ts'
import { invalidField } from '../../../application/failure.js'
import { baseModelName } from '../../../domain/training/events.js'
import { nullable, nullableText } from '../../../kernel/codec/containers.js'
import { int64, json, jsonObject, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../../kernel/codec/text.js'
import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'
import { isLargerThan } from '../../../kernel/json/measure.js'

export const newFineTuning = open('FineTuningJobCreate', {
  required: { model: baseModelName, training_file: string },
  optional: {
    validation_file: nullableText(string),
    suffix: nullableText(textUpToCharacters(64)),
    seed: nullable(int64),
    metadata: nullable(jsonObject),
    /** `n_epochs`, `batch_size` and `learning_rate_multiplier`, each a number or `auto`. */
    hyperparameters: nullable(jsonObject),
    method: nullable(jsonObject),
    integrations: nullable(json),
  },
})
export type NewFineTuning = t.TypeOf<typeof newFineTuning>

const AUTO_EPOCHS = 3
const AUTO_BATCH = 4
const MAX_EPOCHS = 1000
const MAX_BATCH = 10_000

/** Of a multiplier of 1. Small models need larger steps. */
const ENGINE_RATE = 3e-3
const WORKER_RATE = 5e-5

const hyperparametersIn = ({ hyperparameters, method }: NewFineTuning): JsonObject => {
  const supervised = method?.['supervised']
  const newer = isJsonObject(supervised) ? supervised['hyperparameters'] : undefined
  return { ...hyperparameters, ...(isJsonObject(newer) ? newer : {}) }
}

const numberOf = (
  name: string,
  value: Json | undefined,
  usual: number,
  most: number,
  isWhole: boolean,
): number => {
  if (value === undefined || value === null || value === 'auto') return usual
  const isValid =
    typeof value === 'number' && value > 0 && value <= most && (!isWhole || Number.isInteger(value))
  if (!isValid)
    throw invalidField(
      ['hyperparameters', name],
      'value_error',
      `Input should be 'auto' or a number up to ${most}`,
    )
  return value
}

export interface FineTuningConfig {
  readonly epochs: number
  readonly batchSize: number
  readonly learningRate: number
}

/** It is in an event. */
const MAX_BYTES = 64 * 1024

/** The configuration of the job. @throws Failure that names what is not served */
export const trainingOf = (given: NewFineTuning, isBuiltIn: boolean): FineTuningConfig => {
  for (const field of ['metadata', 'method', 'hyperparameters'] as const)
    if (isLargerThan(MAX_BYTES, given[field]))
      throw invalidField([field], 'value_error', `Value should have at most ${MAX_BYTES} bytes as JSON`)
  const type = given.method?.['type'] ?? 'supervised'
  if (type !== 'supervised')
    throw invalidField(
      ['method', 'type'],
      'value_error',
      `The method ${JSON.stringify(type)} is not served: use supervised`,
    )
  if (Array.isArray(given.integrations) && given.integrations.length > 0)
    throw invalidField(
      ['integrations'],
      'value_error',
      'Integrations are not served: read the events of the job',
    )
  const { n_epochs, batch_size, learning_rate_multiplier } = hyperparametersIn(given)
  return {
    epochs: numberOf('n_epochs', n_epochs, AUTO_EPOCHS, MAX_EPOCHS, true),
    batchSize: numberOf('batch_size', batch_size, AUTO_BATCH, MAX_BATCH, true),
    learningRate:
      (isBuiltIn ? ENGINE_RATE : WORKER_RATE) *
      numberOf('learning_rate_multiplier', learning_rate_multiplier, 1, 1000, false),
  }
}
