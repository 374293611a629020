import { isJsonObject, type JsonObject } from '../json/json.js'

/** Whether a call that starts is an evaluation run: of an SDK, of the v2 endpoints, or of this service. */
export const isEvaluationRun = (opName: string, attributes: JsonObject | null): boolean => {
  const weave = attributes?.['weave']
  if (weave !== undefined && isJsonObject(weave) && weave['evaluation_run'] === 'true') return true
  return /(^|\/op\/)Evaluation\.evaluate(:[^/]*)?$/.test(opName)
}
