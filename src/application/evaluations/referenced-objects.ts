import * as E from 'fp-ts/lib/Either.js'
import { resolveJudge, type ReadObject } from '../../domain/evaluations/resolve-judge.js'
import { compileBuiltIn } from '../../domain/evaluations/scorers/compile.js'
import { decodeScorer } from '../../domain/evaluations/scorers/scorer.js'
import { entityOf } from '../../kernel/ids.js'
import type { Json } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { classesOf } from '../../domain/objects/classes.js'
import { isOpRef, parseRef } from '../../domain/refs/ref.js'
import { objectValues } from '../../projections/objects/queries.js'
import { Failure, invalidField } from '../failure.js'
import { sourcesFrom } from '../refs/sources.js'
import { readObject } from './user-reads.js'
import type { IncomingHttpHeaders } from 'node:http'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { ScoringTools } from '../../kernel/ports/scoring-tools.js'
import type { Teams } from '../access/project-access.js'
import type { Principal } from '../principal.js'
import type { Reading } from '../reading/reading.js'

const MAX_SCORERS = 100
/** The latency of the model, in the summary of a run. */
const LATENCY_KEY = 'model_latency'

interface ObjectReads {
  readonly teams: Pick<Teams, 'canAccessTeam'>
  readonly reading: Pick<Reading, 'waitForNow'>
}

interface ScorerReads extends ObjectReads {
  readonly ports: { readonly scoringTools: ScoringTools }
}

export interface ReadRequest {
  readonly principal: Principal
  readonly headers: IncomingHttpHeaders
  readonly reader: ClickHouseReader
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
  { teams, reading }: ObjectReads,
  text: string,
  field: readonly (string | number)[],
  { principal, headers, reader }: ReadRequest,
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
  if (!teams.canAccessTeam(principal, entityOf(ref.projectId))) throw missing
  const position = await reading.waitForNow(ref.projectId, headers)
  const wanted = [{ objectId: ref.objectId, digest: ref.version }]
  const [found] = await objectValues(reader)(ref.projectId, wanted, position)
  if (found === undefined) throw missing
  const value = parseJson(found)
  if (isOpRef(text) && classesOf(value).kind !== 'op')
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
export const nestedObjects = (
  { teams, reading }: ObjectReads,
  { principal, headers, reader }: ReadRequest,
): ReadObject => {
  const sources = sourcesFrom(reader, async (projectId) =>
    teams.canAccessTeam(principal, entityOf(projectId)) ? reading.waitForNow(projectId, headers) : undefined,
  )
  return readObject(() => sources)
}

/** Every scorer can be read by the caller, is a scorer with a valid configuration, and has a name of its own. */
export const requireScorers = async (
  evaluations: ScorerReads,
  refs: readonly string[],
  field: readonly string[],
  request: ReadRequest,
): Promise<void> => {
  if (refs.length > MAX_SCORERS)
    throw invalidField(field, 'too_long', `List should have at most ${MAX_SCORERS} items`)
  const names = new Map<string, number>()
  for (const [index, text] of refs.entries()) {
    const place = [...field, index]
    const scorer = orInvalid(
      place,
      decodeScorer(text, await requireObject(evaluations, text, place, request)),
    )
    if (scorer.kind === 'built-in') orInvalid(place, compileBuiltIn(evaluations.ports.scoringTools)(scorer))
    if (scorer.kind === 'llm-judge')
      orInvalid(place, await resolveJudge(scorer, nestedObjects(evaluations, request)))
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
