import * as E from 'fp-ts/lib/Either.js'
import { parsedCall } from './parsed-call.js'
import { feedbackCreate } from '../feedback/new-feedback.js'
import { prepareFeedback, recordFeedback } from '../feedback/record-feedback.js'
import { pages } from '../calls/pages.js'
import type { RulePorts } from '../../dispatch/evaluations/rule-ports.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { isOfEvaluation } from '../../domain/evaluations/rules/sampling.js'
import { feedbackTypeOf } from '../../domain/evaluations/rows-of-calls.js'
import { RUN_OP } from '../../domain/evaluations/run-calls.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { query } from '../../domain/query/query.js'
import { callRef } from '../../domain/refs/ref.js'
import { callIds, callsById, NO_FILTER, type CallsFilter } from '../../projections/calls/queries.js'
import type { ReadSide } from '../../composition/read-side.js'
import type { Stores } from '../../composition/stores.js'

const READABLE_WITHIN_MS = 30_000

type RuleStores = Pick<Stores, 'eventStore' | 'blobs' | 'clickHouse'> &
  Pick<Ports, 'ids' | 'sha256' | 'clock'>

/** What evaluation rules ask of the read models and of the feedback API. */
export const rulePorts = (
  ports: RuleStores,
  readSide: ReadSide,
  ackPosition: (projectId: string, position: Position | undefined) => void,
): Pick<RulePorts, 'selectCalls' | 'loadCalls' | 'tracesOfEvaluations' | 'giveScore'> => {
  const { reader } = ports.clickHouse

  const idsOf = (projectId: string, filter: CallsFilter, asked: JsonObject | null = null) => {
    const decoded = asked === null ? null : query.decode(asked)
    if (decoded !== null && E.isLeft(decoded)) return Promise.resolve([])
    return callIds(reader)({
      projectId,
      filter,
      position: readSide.reached(),
      sortBy: [],
      limit: null,
      offset: null,
      operation: decoded === null ? null : decoded.right.$expr,
    })
  }

  return {
    selectCalls: async (projectId, { op_names, trace_roots_only, query: asked }, call_ids, position) => {
      if (!(await readSide.waitFor(position, READABLE_WITHIN_MS)))
        throw new Error('the read models did not reach the end of the calls in time')
      const found = await idsOf(projectId, { ...NO_FILTER, op_names, trace_roots_only, call_ids }, asked)
      return found.map(({ id }) => id)
    },
    loadCalls: async function* (projectId, call_ids) {
      if (call_ids.length === 0) return
      const found = await idsOf(projectId, { ...NO_FILTER, call_ids })
      for (const page of pages(found)) {
        const ids = page.map(({ id }) => id)
        yield (await callsById(reader)(projectId, ids, readSide.reached())).map(parsedCall)
      }
    },
    tracesOfEvaluations: async (projectId, traceIds) => {
      if (traceIds.length === 0) return new Set()
      const trace_ids = [...new Set(traceIds)]
      const runs = await idsOf(projectId, { ...NO_FILTER, trace_ids, op_names: [RUN_OP] })
      const ids = [...new Set([...trace_ids, ...runs.map(({ id }) => id)])]
      const calls = await callsById(reader)(projectId, ids, readSide.reached(), ['attributes'])
      const ofEvaluations = calls.map(parsedCall).filter(isOfEvaluation)
      return new Set(ofEvaluations.map(({ trace_id }) => trace_id))
    },
    giveScore: async ({ projectId, id, callId, scorer, scorerRef, scoreCallId, value }, cause) => {
      const decoded = feedbackCreate.decode({
        project_id: projectId,
        id,
        weave_ref: callRef(projectId, callId),
        feedback_type: feedbackTypeOf(scorer),
        payload: { output: value },
        runnable_ref: scorerRef,
        call_ref: scoreCallId === null ? null : callRef(projectId, scoreCallId),
      })
      if (E.isLeft(decoded)) throw new Error(`the score is no valid feedback: ${decoded.left[0]?.message}`)
      const prepared = await prepareFeedback(ports, decoded.right, id)
      // The first score is kept where another was given under this id.
      const { position } = await recordFeedback(ports, prepared, instantOf(ports.clock.now()), cause)
      ackPosition(projectId, position)
    },
  }
}
