import * as E from 'fp-ts/lib/Either.js'
import { evaluationEvents, evaluationStream } from '../../../evaluations/evaluation-run.js'
import { scoreFeedbackOf } from '../../../evaluations/rows-of-calls.js'
import { nameIn } from '../../../evaluations/run-calls.js'
import { parseFieldPath, valueAt } from '../../../query/field-path.js'
import { feedbackGiven, feedbackStream } from '../../../feedback/feedback.js'
import { entityOf } from '../../../../kernel/ids.js'
import type { Json } from '../../../../kernel/json/json.js'
import type { RecordedEvent } from '../../../../kernel/ports/event-store.js'
import type { Pattern } from '../../../../kernel/ports/patterns.js'
import { parseRef } from '../../../refs/ref.js'
import type { AutomationCondition } from '../events.js'
import { decodeData, envelopeOf } from './decode-data.js'
import type { EvaluationTrigger, ScoreTrigger } from './trigger.js'
import { matched, unmet, type Verdict } from './verdict.js'
import { compareToThreshold } from './windows.js'

/** The trigger of an evaluation run that finished. */
export const evaluationTrigger = (event: RecordedEvent): EvaluationTrigger | undefined => {
  if (event.type !== 'EvaluationRunFinished') return undefined
  const data = decodeData(evaluationEvents.EvaluationRunFinished, event)
  if (data === undefined || evaluationStream(data.project_id, data.id) !== event.stream) return undefined
  const { project_id, id, display_name, evaluation, outcome, error, summary } = data
  return {
    kind: 'evaluation',
    ...envelopeOf(event),
    team: entityOf(project_id),
    types: ['EVALUATION_FINISHED', 'SCORE_THRESHOLD'],
    project_id,
    run_id: id,
    name: display_name,
    outcome,
    error,
    summary,
    evaluation: evaluation === null ? null : (nameIn(evaluation) ?? evaluation),
  }
}

/** The trigger of a score that was given as feedback. */
export const scoreTrigger = (event: RecordedEvent): ScoreTrigger | undefined => {
  if (event.type !== 'FeedbackGiven') return undefined
  const score = scoreFeedbackOf(event.data)
  if (score === undefined) return undefined
  const data = decodeData(feedbackGiven, event)
  if (data === undefined || feedbackStream(data.project_id, data.id) !== event.stream) return undefined
  const { project_id, weave_ref } = data
  const of = parseRef(weave_ref)
  return {
    kind: 'score',
    ...envelopeOf(event),
    team: entityOf(project_id),
    types: ['SCORE_THRESHOLD'],
    project_id,
    call_id: of?.kind === 'call' && of.projectId === project_id ? of.id : null,
    scorer: score.scorer,
    score: score.value,
  }
}

export const judgeEvaluation = (
  condition: AutomationCondition,
  { evaluation, outcome, summary }: EvaluationTrigger,
  pattern: (source: string) => Pattern,
): Verdict => {
  if (condition.type === 'SCORE_THRESHOLD') {
    const { scorer } = condition
    const has = scorer !== null && Object.hasOwn(summary, scorer)
    return has ? judgeScore(condition, summary[scorer]!) : unmet({ why: 'scorer' })
  }
  const { outcomes, evaluation_pattern } = condition
  if (outcomes !== null && !outcomes.includes(outcome)) return unmet({ why: 'outcome' })
  if (evaluation_pattern !== null && !pattern(evaluation_pattern)(evaluation ?? ''))
    return unmet({ why: 'evaluation_pattern' })
  return matched()
}

export const judgeScoreFeedback = (
  condition: AutomationCondition,
  { scorer, score }: ScoreTrigger,
): Verdict => (condition.scorer === scorer ? judgeScore(condition, score) : unmet({ why: 'scorer' }))

const valueAtText = (score: Json, path: string): Json | undefined => {
  const parsed = parseFieldPath(path)
  return E.isRight(parsed) ? valueAt(score, parsed.right) : undefined
}

/** True compares as 1 and false as 0. */
const judgeScore = (condition: AutomationCondition, score: Json): Verdict => {
  const { scorer, score_path } = condition
  const at = score_path === null ? score : valueAtText(score, score_path)
  if (typeof at !== 'number' && typeof at !== 'boolean') return unmet({ why: 'score_absent' })
  const { value, threshold, met } = compareToThreshold(condition, Number(at))
  if (!met) return unmet({ why: 'threshold', value, threshold })
  const metric_name = score_path === null ? scorer! : `${scorer}.${score_path}`
  return matched({ metric_name, metric_value: value, threshold })
}
