import * as E from 'fp-ts/lib/Either.js'
import { decodeScorer } from '../../domain/evaluation/scorers/scorer.js'
import { entityOf } from '../../domain/ids.js'
import type { Json } from '../../domain/json/json.js'
import { parseJson } from '../../domain/json/parse.js'
import { parseRef, type Ref } from '../../domain/ref/ref.js'
import { objectValues } from '../../projections/objects/queries.js'
import { Failure, invalidField } from '../failure.js'
import type { Principal } from '../principal.js'
import type { RouteRequest } from '../route.js'
import type { Evaluations } from './evaluations.js'

const MAX_SCORERS = 100

type Reading = Pick<RouteRequest<unknown>, 'principal' | 'headers'>

type ScorerReads = Pick<Evaluations, 'teams' | 'reading' | 'reader'>

/** Every scorer can be read by the caller, is a scorer, and has a name of its own. */
export const requireScorers = async (
  evaluations: ScorerReads,
  refs: readonly string[],
  request: Reading,
): Promise<void> => {
  if (refs.length > MAX_SCORERS)
    throw invalidField(['scorer_refs'], 'too_long', `List should have at most ${MAX_SCORERS} items`)
  const names = new Map<string, number>()
  for (const [index, text] of refs.entries()) {
    const value = await scorerObject(evaluations, text, index, request)
    const scorer = decodeScorer(text, value)
    if (E.isLeft(scorer)) throw invalidScorer(index, scorer.left)
    const other = names.get(scorer.right.name)
    if (other !== undefined)
      throw invalidScorer(
        index,
        `the scorer has the same name as scorer_refs.${other}: "${scorer.right.name}"`,
      )
    names.set(scorer.right.name, index)
  }
}

const invalidScorer = (index: number, reason: string) =>
  invalidField(['scorer_refs', index], 'value_error', `Value error, ${reason}`)

const scorerObject = async (
  evaluations: ScorerReads,
  text: string,
  index: number,
  { principal, headers }: Reading,
): Promise<Json> => {
  const ref = parseRef(text)
  if (ref?.kind !== 'object' || ref.edges.length > 0)
    throw invalidScorer(index, 'the reference should be like weave:///entity/project/object/name:digest')
  const found = await readObject(evaluations, ref, principal, headers)
  if (found === undefined)
    throw new Failure(
      'not-found',
      `Scorer scorer_refs.${index} not found, or the API key has no access to its team.`,
    )
  return parseJson(found)
}

const readObject = async (
  { teams, reading, reader }: ScorerReads,
  ref: Extract<Ref, { kind: 'object' }>,
  principal: Principal,
  headers: Reading['headers'],
): Promise<string | undefined> => {
  if (!teams.canAccessTeam(principal, entityOf(ref.projectId))) return undefined
  const position = await reading.waitForNow(ref.projectId, headers)
  const wanted = [{ objectId: ref.objectId, digest: ref.version }]
  return (await objectValues(reader)(ref.projectId, wanted, position))[0]
}
