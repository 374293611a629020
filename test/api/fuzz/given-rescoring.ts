import type { Client } from '../../support/client.js'
import { scorerObject } from '../evaluations/logged-run.js'
import { accepted } from '../calls/given.js'
import { SERVED } from './given-inference.js'
import type { AreaOf, Memory } from './memory.js'
import { HOME } from './places.js'

/** A run may end before it is canceled. */
const MAX_TRIES = 50

const refOf = (object: string): string => `weave:///${HOME}/object/${object}:latest`

/** References that requests about evaluations may name, by key. */
export const EVALUATION_REFS: Readonly<Record<string, readonly string[]>> = {
  scorer_refs: [refOf('exact')],
  evaluation_ref: [refOf('evaluated')],
  model_ref: [refOf('asked')],
}

/** A scorer, a model, an evaluation and a rule at home, and a canceled run, which can be canceled again. */
export const givenRescoring = async (service: Client, areaOf: AreaOf, memory: Memory): Promise<void> => {
  const { objects } = service.in(HOME)
  await objects.publish('exact', scorerObject('ExactMatchScorer'))
  await objects.publish('asked', {
    _type: 'LLMStructuredCompletionModel',
    _class_name: 'LLMStructuredCompletionModel',
    llm_model_id: SERVED,
    default_params: { messages_template: [{ role: 'user', content: 'Hello' }] },
  })
  await objects.publish('evaluated', {
    _type: 'Evaluation',
    dataset: refOf('data'),
    scorers: [refOf('exact')],
  })
  const rules = '/api/evaluation-rules/{entity}/{project}'
  const rule = { name: 'checked', scorer_refs: [refOf('exact')], enabled: false }
  const created = await service.post(`/api/evaluation-rules/${HOME}`, rule)
  memory.remember(areaOf(rules), accepted(created))
  const ref = refOf('model')
  const run = await service.post(`/v2/${HOME}/evaluation_runs`, { evaluation: ref, model: ref })
  const { evaluation_run_id } = accepted(run)
  const { evaluations } = service.in(HOME)
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const asked = {
      source_evaluation_run_id: evaluation_run_id!,
      scorer_refs: EVALUATION_REFS['scorer_refs']!,
    }
    const { call_id } = await evaluations.rescore(asked).json()
    const canceled = await evaluations.cancel({ call_id: call_id! })
    if (canceled.status === 200) {
      memory.remember('evaluations', { call_id: call_id! })
      return
    }
  }
  throw new Error(`each of ${MAX_TRIES} runs ended before it was canceled`)
}
