import type * as t from 'io-ts'
import { nullableText } from '../../kernel/codec/containers.js'
import { erasable, erasureFields } from '../../kernel/codec/erasable.js'
import { instant, type Instant } from '../../kernel/codec/instant.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { type EventOf, nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'
import { contentFields } from './content.js'
import { canonicalJson } from '../../kernel/json/canonical.js'

const ofFeedback = { project_id: projectId, id }

export const feedbackGiven = erasable(
  open('FeedbackGiven', {
    says: 'Feedback was created on a call or an object. The first feedback with an id is kept.',
    required: { ...contentFields.required, created_at: instant },
    optional: {
      ...contentFields.optional,
      /** The user of the key that wrote it. */
      wb_user_id: nullableText(string),
      ...erasureFields,
    },
  }),
)

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
export type FeedbackContent = Omit<FeedbackGiven, 'created_at' | 'wb_user_id' | 'erased' | 'figures_erased'>

export type FeedbackEvent = EventOf<typeof feedbackEvents>

export const feedbackStream = (projectId: string, feedbackId: string): string =>
  `feedback-${projectId}/${feedbackId}`

export interface GiveFeedback {
  readonly type: 'GiveFeedback'
  readonly content: FeedbackContent
  readonly userId: string
  readonly now: Instant
}

export interface ReplaceFeedback {
  readonly type: 'ReplaceFeedback'
  readonly project_id: string
  readonly id: string
  readonly replaced_by: string
}

export interface PurgeFeedback {
  readonly type: 'PurgeFeedback'
  readonly project_id: string
  readonly id: string
}

export type FeedbackCommand = GiveFeedback | ReplaceFeedback | PurgeFeedback

export interface FeedbackState {
  readonly given: FeedbackGiven | null
  /** Purged or replaced. An id is not reused. */
  readonly gone: boolean
}

const evolve = (state: FeedbackState, event: FeedbackEvent): FeedbackState => {
  switch (event.type) {
    case 'FeedbackGiven':
      return { ...state, given: event.data }
    case 'FeedbackReplaced':
    case 'FeedbackPurged':
      return { ...state, gone: true }
    default:
      return state
  }
}

const decide = (state: FeedbackState, command: FeedbackCommand): Decision<FeedbackEvent> => {
  switch (command.type) {
    case 'GiveFeedback':
      return decideGiven(state, command)
    case 'ReplaceFeedback': {
      if (state.given === null || state.gone) return nothing
      const { project_id, id, replaced_by } = command
      return { events: [{ type: 'FeedbackReplaced', data: { project_id, id, replaced_by } }] }
    }
    case 'PurgeFeedback': {
      if (state.given === null || state.gone) return nothing
      const { project_id, id } = command
      return { events: [{ type: 'FeedbackPurged', data: { project_id, id } }] }
    }
    default:
      return command satisfies never
  }
}

const decideGiven = (
  { given, gone }: FeedbackState,
  { content, userId, now }: GiveFeedback,
): Decision<FeedbackEvent> => {
  if (given === null) {
    const data: FeedbackGiven = { ...content, wb_user_id: userId, created_at: now }
    return { events: [{ type: 'FeedbackGiven', data }] }
  }
  if (gone) return refused('conflict', 'This feedback was purged or replaced. Use another id.')
  if (given.erased === true) return nothing
  const { wb_user_id: _user, created_at: _when, ...known } = given
  if (sameFeedback(content, known)) return nothing
  return refused(
    'conflict',
    'Different feedback with this id is already recorded and is kept. Use another id.',
  )
}

export const feedbackDecider: Decider<FeedbackState, FeedbackCommand, FeedbackEvent> = {
  initialState: () => ({ given: null, gone: false }),
  evolve,
  decide,
}

/** Equal content, whether the payload is inline or spilled. */
export const sameFeedback = (a: FeedbackContent, b: FeedbackContent): boolean =>
  fingerprint(a) === fingerprint(b)

const fingerprint = (content: FeedbackContent): string =>
  canonicalJson({
    ...content,
    spilled: Object.fromEntries(
      Object.entries(content.spilled).map(([field, { canonical }]) => [field, canonical]),
    ),
  })
