import type { EvaluationRow } from '../../domain/evaluations/row.js'
import { newSummary } from '../../domain/evaluations/summary.js'
import type { JsonObject } from '../../kernel/json/json.js'

/** The summary of a run by the names of its scorers, with the mean latency of the model where it is known. */
export const summaryOfRun = async (pages: AsyncIterable<readonly EvaluationRow[]>): Promise<JsonObject> => {
  const byScorer = new Map<string, ReturnType<typeof newSummary>>()
  let seconds = 0
  let timed = 0
  for await (const rows of pages)
    for (const { scores, modelLatency } of rows) {
      for (const [scorer, value] of Object.entries(scores)) {
        const summary = byScorer.get(scorer) ?? newSummary()
        byScorer.set(scorer, summary)
        summary.add(value)
      }
      if (modelLatency === null) continue
      seconds += modelLatency
      timed += 1
    }
  return {
    ...Object.fromEntries([...byScorer].map(([scorer, summary]) => [scorer, summary.result()])),
    ...(timed === 0 ? {} : { model_latency: { mean: seconds / timed } }),
  }
}
