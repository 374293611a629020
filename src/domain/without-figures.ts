import type { JsonObject } from '../kernel/json/json.js'
import { callWithoutFigures, dayOf, type CountedCost } from './calls/without-figures.js'

/**
 * What an erasure of figures leaves of the data of an event about a call, or of one of feedback on it or of its place in an annotation queue. Undefined
 * for others.
 */
export const withoutFigures = (
  type: string,
  data: JsonObject,
  cost?: CountedCost,
): JsonObject | undefined => {
  const ofCall = callWithoutFigures(type, data, cost)
  if (ofCall !== undefined) return ofCall
  const { project_id = null, id = null, weave_ref = null, queue_id = null, call_id = null } = data
  const left = { project_id, id, erased: true, figures_erased: true }
  switch (type) {
    case 'FeedbackGiven':
      return {
        ...{ ...left, weave_ref, feedback_type: 'erased', payload: {}, spilled: {}, wb_user_id: null },
        created_at: dayOf(data['created_at']),
      }
    case 'FeedbackReplaced':
    case 'FeedbackPurged':
      return { ...data, ...left }
    case 'AnnotationItemAdded':
      return {
        ...{ ...left, queue_id, call_id, call_op_name: 'erased', call_trace_id: call_id, display_fields: [] },
        ...{
          call_started_at: dayOf(data['call_started_at']),
          added_by: '',
          created_at: dayOf(data['created_at']),
        },
      }
    default:
      return undefined
  }
}
