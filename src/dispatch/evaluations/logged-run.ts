import type { EvaluationRunFinished } from '../../domain/evaluations/evaluation-run.js'
import { textOf, weaveAttributes } from '../../domain/evaluations/run-calls.js'
import { isJsonObject } from '../../kernel/json/json.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { finish } from './finish-run.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { RunKey } from './work-on-run.js'

/** Records that an evaluation run ended which a client logged as calls. */
export const recordLoggedRun = async (
  ports: Pick<Ports, 'eventStore' | 'blobs' | 'ids'>,
  { project_id, id }: RunKey,
  { id: causationId, metadata }: RecordedEvent,
): Promise<void> => {
  const call = await callNow(ports, project_id, id)
  if (call === undefined || call.ended_at === null) return
  const finished: EvaluationRunFinished = {
    project_id,
    id,
    kind: 'logged',
    outcome: call.exception === null ? 'completed' : 'failed',
    started_at: call.started_at,
    finished_at: call.ended_at,
    summary: isJsonObject(call.output) ? call.output : {},
    evaluation: textOf(call.inputs['self']),
    model: textOf(call.inputs['model']),
    source_evaluation_run_id: textOf(weaveAttributes(call)['source_evaluation_run_id']),
    display_name: call.display_name,
    error: call.exception,
    warnings: [],
    wb_user_id: metadata.actor,
  }
  await finish(ports, finished, { correlationId: metadata.correlationId, causationId, actor: metadata.actor })
}
