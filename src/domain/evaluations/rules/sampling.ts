import { isEvaluationRun, isMarked, weaveAttributes, type EvaluationCall } from '../run-calls.js'
import { isJsonObject } from '../../../kernel/json/json.js'
import type { Sha256 } from '../../../kernel/ports/sha256.js'
import { uuidOfDigest } from '../../../kernel/uuid-of-digest.js'

/** Whether a rule scores a matching call: decided by a hash, so that a repeat decides the same. */
export const isSampled = (sha256: Sha256, sampleRate: number, ruleId: string, callId: string): boolean =>
  sampleRate >= 1 ||
  parseInt(sha256(JSON.stringify(['sample', ruleId, callId])).slice(0, 12), 16) / 2 ** 48 < sampleRate

/** The id of the feedback, and of the scorer's call: the same in every attempt. */
export const scoreIdOf = (
  sha256: Sha256,
  projectId: string,
  ruleId: string,
  callId: string,
  scorer: string,
): string => uuidOfDigest(sha256(JSON.stringify(['evaluation_rule', projectId, ruleId, callId, scorer])))

/** Marks the call of a scorer of a rule. */
export const ruleAttributes = (ruleId: string) => ({ tallytree: { evaluation_rule_id: ruleId } })

/** Whether a call is an evaluation run, part of one, or the scorer of a rule: rules leave these out. */
export const isOfEvaluation = (call: Pick<EvaluationCall, 'op_name' | 'attributes'>): boolean => {
  const { tallytree = null, _weave_eval_meta: logged = null } = call.attributes
  const marks = isJsonObject(tallytree) ? tallytree : {}
  const weave = weaveAttributes(call)
  return (
    isEvaluationRun(call.op_name, call.attributes) ||
    Object.hasOwn(marks, 'evaluation_run_id') ||
    Object.hasOwn(marks, 'evaluation_rule_id') ||
    typeof weave['evaluation_run_id'] === 'string' ||
    isMarked(weave, 'score') ||
    isJsonObject(logged)
  )
}
