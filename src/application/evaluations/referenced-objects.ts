import * as E from 'fp-ts/lib/Either.js'
import { resolveJudge, type ReadObject } from '../../domain/evaluations/resolve-judge.js'
import { compileBuiltIn } from '../../domain/evaluations/scorers/compile.js'
import { decodeScorer } from '../../domain/evaluations/scorers/scorer.js'
import type { Json } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { kindOf } from '../../domain/objects/classes.js'
import { isOpRef, parseRef } from '../../domain/refs/ref.js'
import { objectValues } from '../../projections/objects/queries.js'
import { Failure, invalidField } from '../failure.js'
import { sourcesFrom } from '../calls/ref-sources.js'
import { readObject } from './user-reads.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { ScoringTools } from '../../kernel/ports/scoring-tools.js'

const MAX_SCORERS = 100
/** The latency of the model, in the summary of a run. */
const LATENCY_KEY = 'model_latency'

export interface ObjectReads {
  readonly reader: ClickHouseReader
  /** The position to read a project at; undefined for a project without access. */
  readonly positionOf: (projectId: string) => Promise<Position | undefined>
}

/** The server records the user of the key. */
export const refuseUser = (userId: string | null): void => {
  if (userId !== null)
    throw invalidField(['wb_user_id'], 'value_error', 'Value error, the server sets wb_user_id; leave it out')
}

/**
 * The value of the object that a field of the request refers to.
 *
 * @throws Failure that names the field where the reference is malformed, or the object missing or not readable
 */
export const requireObject = async (
  { reader, positionOf }: ObjectReads,
  text: string,
  field: readonly (string | number)[],
): Promise<Json> => {
  const ref = parseRef(text)
  if (ref?.kind !== 'object' || ref.edges.length > 0)
    throw invalidField(
      field,
      'value_error',
      'Value error, the reference should be like weave:///entity/project/object/name:digest',
    )
  const missing = new Failure(
    'not-found',
    `The object of ${field.join('.')} was not found, or the API key has no access to its team.`,
  )
  const position = await positionOf(ref.projectId)
  if (position === undefined) throw missing
  const wanted = [{ objectId: ref.objectId, digest: ref.version }]
  const [found] = await objectValues(reader)(ref.projectId, wanted, position)
  if (found === undefined) throw missing
  const value = parseJson(found)
  if (isOpRef(text) && kindOf(value) !== 'op')
    throw invalidField(
      field,
      'value_error',
      'Value error, the object is not an op: its reference should be like weave:///entity/project/object/name:digest',
    )
  return value
}

export const orInvalid = <A>(field: readonly (string | number)[], result: E.Either<string, A>): A => {
  if (E.isLeft(result)) throw invalidField(field, 'value_error', `Value error, ${result.left}`)
  return result.right
}

/** Reads objects that an object of the request refers to. */
export const nestedObjects = ({ reader, positionOf }: ObjectReads): ReadObject => {
  const sources = sourcesFrom(reader, positionOf)
  return readObject(() => sources)
}

/** Every scorer can be read by the caller, is a scorer with a valid configuration, and has a name of its own. */
export const requireScorers = async (
  tools: ScoringTools,
  reads: ObjectReads,
  refs: readonly string[],
  field: readonly string[],
): Promise<void> => {
  if (refs.length > MAX_SCORERS)
    throw invalidField(field, 'too_long', `List should have at most ${MAX_SCORERS} items`)
  const names = new Map<string, number>()
  for (const [index, text] of refs.entries()) {
    const place = [...field, index]
    const scorer = orInvalid(place, decodeScorer(text, await requireObject(reads, text, place)))
    if (scorer.kind === 'built-in') orInvalid(place, compileBuiltIn(tools)(scorer))
    if (scorer.kind === 'llm-judge') orInvalid(place, await resolveJudge(scorer, nestedObjects(reads)))
    const { name } = scorer
    if (name === LATENCY_KEY)
      throw invalidField(
        place,
        'value_error',
        `Value error, the summary of a run has another meaning for the scorer's name: "${name}"`,
      )
    const other = names.get(name)
    if (other !== undefined)
      throw invalidField(
        place,
        'value_error',
        `Value error, the scorer has the same name as ${field.join('.')}.${other}: "${name}"`,
      )
    names.set(name, index)
  }
}
