import type * as t from 'io-ts'
import { nullableText } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'
import { contentFields } from './content.js'

const ofFeedback = { project_id: projectId, id }

export const feedbackGiven = open('FeedbackGiven', {
  says: 'Feedback was created on a call or an object. The first feedback with an id is kept.',
  required: { ...contentFields.required, created_at: instant },
  optional: {
    ...contentFields.optional,
    /** The user of the key that wrote it. */
    wb_user_id: nullableText(string),
  },
})

const feedbackReplaced = open('FeedbackReplaced', {
  says: 'Feedback was replaced by another. Reads exclude it from this position on.',
  required: { ...ofFeedback, replaced_by: id },
})

const feedbackPurged = open('FeedbackPurged', {
  says: 'Feedback was purged. Reads exclude it from this position on.',
  required: ofFeedback,
})

export const feedbackEvents = {
  FeedbackGiven: feedbackGiven,
  FeedbackReplaced: feedbackReplaced,
  FeedbackPurged: feedbackPurged,
}

export type FeedbackGiven = t.TypeOf<typeof feedbackGiven>

/** Fields set by the client. */
export type FeedbackContent = Omit<FeedbackGiven, 'created_at' | 'wb_user_id'>

export type FeedbackEvent = EventOf<typeof feedbackEvents>

export const feedbackStream = (projectId: string, feedbackId: string): string =>
  `feedback-${projectId}/${feedbackId}`
