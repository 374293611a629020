import type { Instant } from '../../kernel/codec/instant.js'
import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { CancelEvaluationRun, ClaimEvaluationRun, EvaluationCommand } from './commands.js'
import type { EvaluationEvent, EvaluationRunFinished, EvaluationRunRequested } from './events.js'

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
