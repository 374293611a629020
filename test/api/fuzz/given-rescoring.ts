import type { TestService } from '../../support/service.js'
import { publish, scorerObject } from '../evaluations/logged-run.js'
import { accepted } from '../calls/given.js'
import { SERVED } from './given-inference.js'
import type { Memory } from './memory.js'
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

/** A scorer, a model and an evaluation at home, and a canceled run, which can be canceled again. */
export const givenRescoring = async (service: TestService, memory: Memory): Promise<void> => {
  await publish(service, HOME, 'exact', scorerObject('ExactMatchScorer'))
  await publish(service, HOME, 'asked', {
    _type: 'LLMStructuredCompletionModel',
    _class_name: 'LLMStructuredCompletionModel',
    llm_model_id: SERVED,
    default_params: { messages_template: [{ role: 'user', content: 'Hello' }] },
  })
  await publish(service, HOME, 'evaluated', {
    _type: 'Evaluation',
    dataset: refOf('data'),
    scorers: [refOf('exact')],
  })
  const ref = refOf('model')
  const run = await service.post(`/v2/${HOME}/evaluation_runs`, { evaluation: ref, model: ref })
  const { evaluation_run_id } = accepted(run)
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const asked = {
      source_evaluation_run_id: evaluation_run_id!,
      scorer_refs: EVALUATION_REFS['scorer_refs']!,
    }
    const { call_id } = accepted(await service.post('/evaluations/rescore', { project_id: HOME, ...asked }))
    const canceled = await service.post('/evaluations/cancel', { project_id: HOME, call_id: call_id! })
    if (canceled.status === 200) {
      memory.remember('evaluations', { call_id: call_id! })
      return
    }
  }
  throw new Error(`each of ${MAX_TRIES} runs ended before it was canceled`)
}
