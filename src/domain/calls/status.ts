import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { CallEnded } from './call.js'

/** The status of an ended call: its own exception counts before errors that its summary reports of descendants. */
export const endStatus = (
  exception: CallEnded['exception'],
  summary: Json,
): 'error' | 'descendant_error' | 'success' => {
  if (exception !== null) return 'error'
  const counts = isJsonObject(summary) ? summary['status_counts'] : undefined
  const errors = isJsonObject(counts) ? counts['error'] : undefined
  return typeof errors === 'number' && errors > 0 ? 'descendant_error' : 'success'
}
