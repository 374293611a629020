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
  /** The content that the change was made to, as its state counts them. */
  readonly edition: number
  readonly content: AutomationContent
  /** Null leaves it as it is. */
  readonly enabled: boolean | null
}

export interface DeleteAutomation extends OfAutomation {
  readonly type: 'DeleteAutomation'
}

export type AutomationCommand = CreateAutomation | ChangeAutomation | DeleteAutomation
