import { instantOf } from '../../kernel/codec/instant.js'
import { durationMs } from '../../domain/calls/duration.js'
import { endCall, startCall } from '../../application/calls/record.js'
import type { SourceRow } from '../../application/evaluations/source-rows.js'
import { attributesOf, type Predict, type RowsOfRun } from './score-row.js'

/**
 * A copy of the source's prediction with the same duration. Usage is left out: the model was not asked again, and no
 * total may count its tokens twice.
 */
export const copyPrediction =
  (run: RowsOfRun): Predict<SourceRow> =>
  async ({ key, example, row, prediction }, { rowId, startedAt }) => {
    const id = run.idOf(key, '', 'predict')
    const tookMs =
      prediction === null || prediction.ended_at === null
        ? (row.modelLatency ?? 0) * 1000
        : (durationMs(prediction.started_at, prediction.ended_at) ?? 0)
    const endedAt = instantOf(new Date(Date.parse(startedAt) + tookMs))
    const { weave: _, status_counts: __, usage: ___, ...summary } = prediction?.summary ?? {}
    const writes = [
      startCall(id, {
        project_id: run.projectId,
        trace_id: run.runId,
        parent_id: rowId,
        started_at: startedAt,
        op_name: prediction?.op_name ?? 'predict',
        attributes: attributesOf(run),
        inputs: prediction?.inputs ?? { self: run.model, example },
      }),
      endCall({
        project_id: run.projectId,
        id,
        ended_at: endedAt,
        summary,
        output: prediction === null ? row.output : prediction.output,
        exception: prediction?.exception ?? null,
      }),
    ]
    return {
      writes,
      output: row.output,
      modelLatency: row.modelLatency,
      skipped: reasonToSkip({ row, prediction }),
    }
  }

/** As the SDKs do, a prediction that failed is not scored. */
const reasonToSkip = ({ row, prediction }: Pick<SourceRow, 'row' | 'prediction'>): string | null => {
  if (row.endedAt === null) return 'the prediction did not finish'
  return row.exception !== null || (prediction !== null && prediction.exception !== null)
    ? 'the prediction failed'
    : null
}
