import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { jsonObject, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { feedbackCreate, newFeedbackFields } from '../../application/feedback/new-feedback.js'
import { id, projectId } from '../../kernel/ids.js'
import { fieldName } from '../../domain/query/field-path.js'
import { query } from '../../domain/query/query.js'
import { range, sortBy } from '../server/sorted-range.js'

export const feedbackBatch = closed('FeedbackCreateBatchRequest', {
  required: { batch: arrayOf(feedbackCreate) },
})

export const feedbackReplace = closed('FeedbackReplaceRequest', {
  required: { ...newFeedbackFields.required, feedback_id: string },
  optional: newFeedbackFields.optional,
})

const created = { required: { id, created_at: instant, wb_user_id: string, payload: jsonObject } }

export const feedbackCreated = open('FeedbackCreateResponse', created)
export const feedbackBatchCreated = open('FeedbackCreateBatchResponse', {
  required: { res: arrayOf(feedbackCreated) },
})

export const feedbackQuery = closed('FeedbackQueryRequest', {
  required: { project_id: projectId },
  optional: { fields: nullable(arrayOf(fieldName)), query: nullable(query), sort_by: sortBy, ...range },
})

export const feedbackQueried = open('FeedbackQueryResponse', {
  required: { result: arrayOf(jsonObject), total_count: wholeNumber },
})

export const feedbackPurge = closed('FeedbackPurgeRequest', { required: { project_id: projectId, query } })
