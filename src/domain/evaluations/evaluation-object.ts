import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { leaf } from '../../kernel/codec/codec.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { integerBetween } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { parseRef, type Ref } from '../refs/ref.js'
import { decoded } from './scorers/decoded.js'

const objectRef = leaf<string>(
  'ref',
  (u): u is string => typeof u === 'string' && parseRef(u)?.kind === 'object',
  { type: 'value_error', msg: 'Input should be a reference to an object' },
  { type: 'string' },
)

const MAX_TRIALS = 100

const evaluationObject = open('Evaluation', {
  required: { dataset: objectRef },
  optional: { scorers: nullable(arrayOf(objectRef)), trials: nullable(integerBetween(1, MAX_TRIALS)) },
})

export interface EvaluationObject {
  /** Reference to a Dataset object. */
  readonly dataset: string
  readonly scorers: readonly string[]
  /** How often each example is given to the model. */
  readonly trials: number
}

/** Decodes an Evaluation object of the SDKs which the service is to run. */
export const decodeEvaluation = (value: Json): E.Either<string, EvaluationObject> =>
  pipe(
    decoded(evaluationObject, value, [evaluationObject.name]),
    E.filterOrElse(
      () => !isJsonObject(value) || (value['preprocess_model_input'] ?? null) === null,
      () => 'Evaluation.preprocess_model_input: code of an SDK cannot run in the service',
    ),
    E.map(({ dataset, scorers, trials }) => ({ dataset, scorers: scorers ?? [], trials: trials ?? 1 })),
  )

/**
 * The table of a Dataset object, where it is in the project of the dataset. A table elsewhere may belong to a team that
 * the reader of the dataset has no access to.
 */
export const tableOfDataset = (
  datasetRef: string,
  dataset: Json,
): Extract<Ref, { kind: 'table' }> | undefined => {
  const owner = parseRef(datasetRef)
  const rows = isJsonObject(dataset) ? dataset['rows'] : undefined
  const table = typeof rows === 'string' ? parseRef(rows) : undefined
  return table?.kind === 'table' && table.projectId === owner?.projectId ? table : undefined
}
