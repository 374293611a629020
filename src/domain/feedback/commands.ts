import type { Instant } from '../../kernel/codec/instant.js'
import type { FeedbackContent } from './events.js'

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
