import type { AutomationContent } from './events.js'

interface OfAutomation {
  readonly id: string
  readonly team: string
}

export interface CreateAutomation extends OfAutomation {
  readonly type: 'CreateAutomation'
  readonly content: AutomationContent
  readonly enabled: boolean
}

export interface ChangeAutomation extends OfAutomation {
  readonly type: 'ChangeAutomation'
  /** The `edition` of the content that the client changed; a conflict if it is no longer current. */
  readonly edition: number
  readonly content: AutomationContent
  /** Null leaves it unchanged. */
  readonly enabled: boolean | null
}

export interface DeleteAutomation extends OfAutomation {
  readonly type: 'DeleteAutomation'
}

export type AutomationCommand = CreateAutomation | ChangeAutomation | DeleteAutomation
