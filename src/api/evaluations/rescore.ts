import * as E from 'fp-ts/lib/Either.js'
import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { instantOf } from '../../domain/codec/instant.js'
import { string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { evaluationDecider } from '../../domain/evaluation/decider.js'
import { evaluationStream } from '../../domain/evaluation/events.js'
import { isEvaluationRun } from '../../domain/evaluation/run-calls.js'
import { decodeScorer } from '../../domain/evaluation/scorers/scorer.js'
import { entityOf, id as idCodec, projectId } from '../../domain/ids.js'
import { isJsonObject, type Json } from '../../domain/json/json.js'
import { parseJson } from '../../domain/json/parse.js'
import { parseRef, type Ref } from '../../domain/ref/ref.js'
import { objectValues } from '../../projections/objects/queries.js'
import { execute } from '../../runtime/execute.js'
import { inBody } from '../authorization.js'
import { Failure, invalidField } from '../failure.js'
import type { Principal } from '../principal.js'
import type { AnyRoute, RouteRequest } from '../route.js'
import { alsoReads, writeProject } from '../route-kinds.js'
import { writing } from '../run.js'
import { foldedCall } from '../tracing/folded-call.js'
import { idFor } from '../tracing/generated-id.js'
import type { Evaluations } from './evaluations.js'
import { countRows } from './progress.js'

const rescoreRequest = open('RescoreRequest', {
  required: { project_id: projectId, source_evaluation_run_id: idCodec, scorer_refs: arrayOf(string, 1) },
  optional: { wb_user_id: nullable(string) },
})

const rescoreResponse = open('RescoreResponse', { required: { call_id: string, evaluation_run_id: string } })

const MAX_SCORERS = 100

/** `POST /evaluations/rescore`: the request is in the log when it is answered, and a dispatcher does the work. */
export const rescoreRoute = (evaluations: Evaluations): AnyRoute =>
  writeProject(evaluations, {
    method: 'post',
    path: '/evaluations/rescore',
    summary:
      'Apply scorers to the predictions of an evaluation run, as a new run. The model is not asked again. ' +
      'Poll the returned call_id with /evaluations/status.',
    body: rescoreRequest,
    requestHeaders: [...alsoReads.requestHeaders, 'Idempotency-Key'],
    errors: [...alsoReads.errors, 'conflict', 'not-found'],
    response: rescoreResponse,
    project: inBody,
    handle: async (request) => {
      const { body, principal } = request
      const { ports } = evaluations
      const { project_id, source_evaluation_run_id, scorer_refs } = body
      if (body.wb_user_id !== null)
        throw invalidField(
          ['wb_user_id'],
          'value_error',
          'Value error, the server sets wb_user_id; leave it out',
        )
      await requireRun(evaluations, project_id, source_evaluation_run_id)
      await requireScorers(evaluations, scorer_refs, request)
      const id = idFor(ports, request, 0)
      const position = await evaluations.reading.waitForNow(project_id, request.headers)
      const command = {
        type: 'RequestEvaluationRun',
        request: {
          kind: 'rescore',
          ...{ project_id, id, scorer_refs, source_evaluation_run_id },
          requested_at: instantOf(ports.clock.now()),
          total_rows: await countRows(evaluations.reader, project_id, source_evaluation_run_id, position),
          wb_user_id: principal.userId,
          key_id: principal.keyId,
          evaluation: null,
          model: null,
        },
      } as const
      const stream = evaluationStream(project_id, id)
      return writing(
        (cause) => execute(ports)(evaluationDecider, stream, [command], cause, { assumeNew: true }),
        {
          respond: () => ({ body: { call_id: id, evaluation_run_id: id } }),
        },
      )
    },
  })

const requireRun = async ({ ports }: Evaluations, project: string, id: string): Promise<void> => {
  const call = await foldedCall(ports)(project, id, await ports.eventStore.head())
  if (call === undefined)
    throw new Failure('not-found', `Evaluation run ${id} not found in project ${project}.`)
  const attributes = parseJson(call.attributes ?? '{}')
  if (!isEvaluationRun(call.op_name, isJsonObject(attributes) ? attributes : null))
    throw invalidField(
      ['source_evaluation_run_id'],
      'value_error',
      'Value error, the call is not an evaluation run',
    )
}

type Reading = Pick<RouteRequest<unknown>, 'principal' | 'headers'>

/** Every scorer can be read by the caller, is a scorer, and has a name of its own. */
const requireScorers = async (
  evaluations: Evaluations,
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
  evaluations: Evaluations,
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
  { teams, reading, reader }: Evaluations,
  ref: Extract<Ref, { kind: 'object' }>,
  principal: Principal,
  headers: Reading['headers'],
): Promise<string | undefined> => {
  if (!teams.canAccessTeam(principal, entityOf(ref.projectId))) return undefined
  const position = await reading.waitForNow(ref.projectId, headers)
  const wanted = [{ objectId: ref.objectId, digest: ref.version }]
  return (await objectValues(reader)(ref.projectId, wanted, position))[0]
}
