import type * as t from 'io-ts'
import { arrayOf, nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { jsonObject, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'

/** The run's id is also the id of its call. */
const ofRun = { project_id: projectId, id }

export const runOutcome = oneOf('completed', 'failed', 'canceled')

const evaluationRunRequested = open('EvaluationRunRequested', {
  says: 'The service was asked to run an evaluation: to rescore the predictions of a run, or to evaluate a model.',
  required: {
    ...ofRun,
    kind: oneOf('rescore', 'evaluate_model'),
    requested_at: instant,
    /** The user who asked; the run reads and writes with their rights. */
    wb_user_id: string,
    /** The key that asked; completions of the run count against its budgets. */
    key_id: string,
    scorer_refs: arrayOf(string),
    total_rows: wholeNumber,
  },
  optional: {
    /** Set for `rescore`. */
    source_evaluation_run_id: nullableText(id),
    /** The Evaluation object and the model, set for `evaluate_model`. */
    evaluation: nullable(string),
    model: nullable(string),
  },
})

const evaluationRunClaimed = open('EvaluationRunClaimed', {
  says: 'A process began or continued the work of a requested run. Claims are renewed while the process is at work.',
  required: { ...ofRun, instance: string, claimed_at: instant },
})

const evaluationRunCancelRequested = open('EvaluationRunCancelRequested', {
  says: 'The cancellation of a requested run was asked for.',
  required: { ...ofRun, requested_at: instant, wb_user_id: string },
})

const evaluationRunFinished = open('EvaluationRunFinished', {
  says: 'An evaluation run finished, whether the service ran it or a client logged it. `summary` is keyed by scorer.',
  required: {
    ...ofRun,
    kind: oneOf('rescore', 'evaluate_model', 'logged'),
    outcome: runOutcome,
    finished_at: instant,
    summary: jsonObject,
  },
  optional: {
    started_at: nullable(instant),
    evaluation: nullable(string),
    model: nullable(string),
    source_evaluation_run_id: nullableText(id),
    display_name: nullable(string),
    error: nullable(string),
    warnings: withDefault(arrayOf(string), []),
    wb_user_id: nullable(string),
  },
})

export const evaluationEvents = {
  EvaluationRunRequested: evaluationRunRequested,
  EvaluationRunClaimed: evaluationRunClaimed,
  EvaluationRunCancelRequested: evaluationRunCancelRequested,
  EvaluationRunFinished: evaluationRunFinished,
}

export type EvaluationRunRequested = t.TypeOf<typeof evaluationRunRequested>
export type EvaluationRunFinished = t.TypeOf<typeof evaluationRunFinished>
export type EvaluationEvent = EventOf<typeof evaluationEvents>

export const evaluationStream = (projectId: string, runId: string): string =>
  `evaluation-${projectId}/${runId}`
