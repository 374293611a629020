import type * as t from 'io-ts'
import { invalidField } from '../../../application/failure.js'
import { baseModelName } from '../../../domain/training/events.js'
import { nullable, nullableText } from '../../../kernel/codec/containers.js'
import { integerBetween, json, jsonObject, string } from '../../../kernel/codec/leaves.js'
import { closed } from '../../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../../kernel/codec/text.js'
import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'
import { jsonEqual } from '../../../kernel/json/equal.js'
import { isLargerThan } from '../../../kernel/json/measure.js'
import { didYouMean } from '../../../kernel/nearest-name.js'

/** As in the API of OpenAI. */
const MAX_SEED = 2 ** 31 - 1

export const newFineTuning = closed('FineTuningJobCreate', {
  required: { model: baseModelName, training_file: string },
  optional: {
    validation_file: nullableText(string),
    suffix: nullableText(textUpToCharacters(64)),
    seed: nullable(integerBetween(0, MAX_SEED)),
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

const HYPERPARAMETERS = ['n_epochs', 'batch_size', 'learning_rate_multiplier']

const refused = (loc: readonly string[], msg: string) => invalidField(loc, 'value_error', msg)

const requireKnown = (at: readonly string[], given: JsonObject, known: readonly string[]): void => {
  const unknown = Object.keys(given).find((name) => given[name] !== null && !known.includes(name))
  if (unknown === undefined) return
  const hint = didYouMean(unknown, known) || `. Known are ${known.join(', ')}`
  throw refused([...at, unknown], `There is no such field${hint}`)
}

/** They may be in an older place, in a newer one, or in both. */
const hyperparametersIn = ({ hyperparameters, method }: NewFineTuning): JsonObject => {
  const older = hyperparameters ?? {}
  requireKnown(['hyperparameters'], older, HYPERPARAMETERS)
  requireKnown(['method'], method ?? {}, ['type', 'supervised'])
  const supervised = method?.['supervised'] ?? {}
  if (!isJsonObject(supervised)) throw refused(['method', 'supervised'], 'Input should be an object')
  requireKnown(['method', 'supervised'], supervised, ['hyperparameters'])
  const newer = supervised['hyperparameters'] ?? {}
  const at = ['method', 'supervised', 'hyperparameters']
  if (!isJsonObject(newer)) throw refused(at, 'Input should be an object')
  requireKnown(at, newer, HYPERPARAMETERS)
  const twice = Object.keys(newer).find((name) => name in older && !jsonEqual(newer[name], older[name]))
  if (twice !== undefined)
    throw refused([...at, twice], `It differs from hyperparameters.${twice}. Give it in one place`)
  return { ...older, ...newer }
}

const MAX_PAIRS = 16
const MAX_KEY = 64
const MAX_VALUE = 512

const metadataKey = textUpToCharacters(MAX_KEY)
const metadataValue = textUpToCharacters(MAX_VALUE)

const requireMetadata = (metadata: JsonObject): void => {
  const pairs = Object.entries(metadata)
  if (pairs.length > MAX_PAIRS) throw refused(['metadata'], `Value should have at most ${MAX_PAIRS} pairs`)
  for (const [key, value] of pairs) {
    if (!metadataKey.is(key)) throw refused(['metadata'], `Keys should have at most ${MAX_KEY} characters`)
    if (!metadataValue.is(value))
      throw refused(['metadata', key], `Value should be a text of at most ${MAX_VALUE} characters`)
  }
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
  /** By the names of the API, without `auto`. */
  readonly hyperparameters: JsonObject
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
  requireMetadata(given.metadata ?? {})
  const { n_epochs, batch_size, learning_rate_multiplier } = hyperparametersIn(given)
  const epochs = numberOf('n_epochs', n_epochs, AUTO_EPOCHS, MAX_EPOCHS, true)
  const batchSize = numberOf('batch_size', batch_size, AUTO_BATCH, MAX_BATCH, true)
  const multiplier = numberOf('learning_rate_multiplier', learning_rate_multiplier, 1, 1000, false)
  return {
    epochs,
    batchSize,
    learningRate: (isBuiltIn ? ENGINE_RATE : WORKER_RATE) * multiplier,
    hyperparameters: { n_epochs: epochs, batch_size: batchSize, learning_rate_multiplier: multiplier },
  }
}
