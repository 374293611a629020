import type { Instant } from '../../kernel/codec/instant.js'
import type { EvaluationRunFinished, EvaluationRunRequested } from './events.js'

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
