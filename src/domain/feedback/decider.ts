import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import type { FeedbackCommand, GiveFeedback } from './commands.js'
import type { FeedbackEvent, FeedbackGiven, FeedbackContent } from './events.js'
import { canonicalJson } from '../../kernel/json/canonical.js'

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
