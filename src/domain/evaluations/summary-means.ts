import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { compareFields, type ScoreField } from './run-scores.js'

/** A mean in the summary of a run, as the SDKs and this service write them. */
interface SummaryMean extends ScoreField {
  /** `boolean` for the fraction of rows that is true. */
  readonly kind: 'number' | 'boolean'
  readonly value: number
}

const MAX_DEPTH = 8
const MAX_NAME = 256
const LATENCY = 'model_latency'

/** The means of the scorers of a summary, sorted by scorer and path; of the latency alone as `latency`. */
export const summaryMeans = (
  summary: JsonObject,
): { readonly means: readonly SummaryMean[]; readonly latency: number | null } => {
  const means: SummaryMean[] = []
  const walk = (scorer: string, path: readonly string[], value: Json): void => {
    if (!isJsonObject(value)) return
    const { mean, true_fraction: fraction } = value
    if (typeof mean === 'number') means.push({ scorer, path, kind: 'number', value: mean })
    if (typeof fraction === 'number') means.push({ scorer, path, kind: 'boolean', value: fraction })
    if (path.length < MAX_DEPTH)
      for (const [name, member] of Object.entries(value))
        if (name.length <= MAX_NAME) walk(scorer, [...path, name], member)
  }
  for (const [scorer, value] of Object.entries(summary))
    if (scorer !== LATENCY && scorer.length <= MAX_NAME) walk(scorer, [], value)
  const latency = isJsonObject(summary[LATENCY]) ? summary[LATENCY]['mean'] : null
  return { means: means.sort(compareFields), latency: typeof latency === 'number' ? latency : null }
}
