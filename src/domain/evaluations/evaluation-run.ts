import type * as t from 'io-ts'
import { arrayOf, nullable, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant, type Instant } from '../../kernel/codec/instant.js'
import { jsonObject, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { type EventOf, nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'
import { jsonEqual } from '../../kernel/json/equal.js'

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

interface OfRun {
  readonly project_id: string
  readonly id: string
}

export interface RequestEvaluationRun {
  readonly type: 'RequestEvaluationRun'
  readonly request: EvaluationRunRequested
}

export interface ClaimEvaluationRun extends OfRun {
  readonly type: 'ClaimEvaluationRun'
  readonly instance: string
  readonly now: Instant
  /** Takes over a claim of another process that was not renewed since this time. */
  readonly expiredBefore: Instant
}

export interface CancelEvaluationRun extends OfRun {
  readonly type: 'CancelEvaluationRun'
  readonly now: Instant
  readonly userId: string
}

export interface FinishEvaluationRun {
  readonly type: 'FinishEvaluationRun'
  readonly finished: EvaluationRunFinished
}

export type EvaluationCommand =
  RequestEvaluationRun | ClaimEvaluationRun | CancelEvaluationRun | FinishEvaluationRun

export interface EvaluationRun {
  /** Null for a run that a client logs. */
  readonly request: EvaluationRunRequested | null
  readonly claim: { readonly instance: string; readonly at: Instant } | null
  readonly isCanceled: boolean
  readonly finished: EvaluationRunFinished | null
}

const initialState = (): EvaluationRun => ({ request: null, claim: null, isCanceled: false, finished: null })

const evolve = (state: EvaluationRun, event: EvaluationEvent): EvaluationRun => {
  switch (event.type) {
    case 'EvaluationRunRequested':
      return { ...state, request: event.data }
    case 'EvaluationRunClaimed':
      return { ...state, claim: { instance: event.data.instance, at: event.data.claimed_at } }
    case 'EvaluationRunCancelRequested':
      return { ...state, isCanceled: true }
    case 'EvaluationRunFinished':
      return { ...state, finished: event.data }
    default:
      return state
  }
}

const decide = (state: EvaluationRun, command: EvaluationCommand): Decision<EvaluationEvent> => {
  switch (command.type) {
    case 'RequestEvaluationRun': {
      const { request } = command
      if (state.request === null) return { events: [{ type: 'EvaluationRunRequested', data: request }] }
      return isSameRequest(state.request, request) ? nothing : keyReused
    }
    case 'ClaimEvaluationRun':
      return claim(state, command)
    case 'CancelEvaluationRun':
      return cancel(state, command)
    case 'FinishEvaluationRun':
      return state.finished === null
        ? { events: [{ type: 'EvaluationRunFinished', data: command.finished }] }
        : nothing
    default:
      return command satisfies never
  }
}

const claim = (
  state: EvaluationRun,
  { project_id, id, instance, now, expiredBefore }: ClaimEvaluationRun,
): Decision<EvaluationEvent> => {
  if (state.request === null) return noSuchRun
  if (state.finished !== null) return refused('conflict', 'The evaluation run has finished.')
  if (state.claim !== null && state.claim.instance !== instance && state.claim.at >= expiredBefore)
    return refused('conflict', 'Another process works on the evaluation run.')
  return { events: [{ type: 'EvaluationRunClaimed', data: { project_id, id, instance, claimed_at: now } }] }
}

const cancel = (
  state: EvaluationRun,
  { project_id, id, now, userId }: CancelEvaluationRun,
): Decision<EvaluationEvent> => {
  if (state.request === null) return noSuchRun
  if (state.isCanceled || state.finished?.outcome === 'canceled') return nothing
  if (state.finished !== null) return refused('conflict', 'The evaluation run has already finished.')
  const data = { project_id, id, requested_at: now, wb_user_id: userId }
  return { events: [{ type: 'EvaluationRunCancelRequested', data }] }
}

/** The time and the number of rows may differ when a request is repeated. */
const isSameRequest = (known: EvaluationRunRequested, repeat: EvaluationRunRequested): boolean =>
  jsonEqual({ ...known, requested_at: '', total_rows: 0 }, { ...repeat, requested_at: '', total_rows: 0 })

const keyReused: Decision<never> = refused(
  'conflict',
  'The Idempotency-Key was already used for another evaluation run. Use a new key.',
)

const noSuchRun: Decision<never> = refused(
  'not-found',
  'No evaluation run with this id was requested in the project.',
)

export const evaluationDecider: Decider<EvaluationRun, EvaluationCommand, EvaluationEvent> = {
  initialState,
  evolve,
  decide,
}
