import { nothing, type Decider, type Decision, type Refusal } from '../../../kernel/decider.js'
import { jsonEqual } from '../../../kernel/json/equal.js'
import type { AutomationCommand, ChangeAutomation, CreateAutomation } from './commands.js'
import { automationContent, type AutomationContent, type AutomationEvent } from './events.js'

export interface Automation {
  readonly id: string
  readonly team: string
  readonly content: AutomationContent
  readonly enabled: boolean
  readonly deleted: boolean
  /** Number of content changes. */
  readonly edition: number
  /** The content at creation, to recognise a repeated creation. */
  readonly first: { readonly content: AutomationContent; readonly enabled: boolean }
}

export type AutomationState = Automation | null

const evolve = (state: AutomationState, { type, data }: AutomationEvent): AutomationState => {
  if (type === 'AutomationCreated') {
    const { id, team, enabled } = data
    const content = contentOf(data)
    return { id, team, content, enabled, deleted: false, edition: 0, first: { content, enabled } }
  }
  if (state === null) return null
  switch (type) {
    case 'AutomationChanged':
      return { ...state, content: contentOf(data), edition: state.edition + 1 }
    case 'AutomationEnabled':
      return { ...state, enabled: true }
    case 'AutomationDisabled':
      return { ...state, enabled: false }
    case 'AutomationDeleted':
      return { ...state, deleted: true }
    default:
      // A newer release may have written an event type that this one does not know.
      return state
  }
}

/** Fields that older events lack become null. */
const contentOf = (data: AutomationContent): AutomationContent => {
  const decoded = automationContent.decode(data)
  return decoded._tag === 'Right' ? decoded.right : data
}

const decide = (state: AutomationState, command: AutomationCommand): Decision<AutomationEvent> => {
  if (command.type === 'CreateAutomation') return create(state, command)
  if (state?.deleted === true && command.type === 'DeleteAutomation') return nothing
  if (state === null || state.deleted) return { events: [], refused: noSuchAutomation }
  const { id, team } = state
  switch (command.type) {
    case 'ChangeAutomation':
      return change(state, command)
    case 'DeleteAutomation':
      return { events: [{ type: 'AutomationDeleted', data: { id, team } }] }
    default:
      return command satisfies never
  }
}

const create = (
  state: AutomationState,
  { id, team, content, enabled }: CreateAutomation,
): Decision<AutomationEvent> => {
  if (state === null)
    return { events: [{ type: 'AutomationCreated', data: { id, team, ...content, enabled } }] }
  const { first, deleted } = state
  if (!deleted && first.enabled === enabled && jsonEqual(first.content, content)) return nothing
  return { events: [], refused: usedBefore }
}

const change = (
  state: Automation,
  { edition, content, enabled }: ChangeAutomation,
): Decision<AutomationEvent> => {
  const { id, team } = state
  const events: AutomationEvent[] = []
  if (!jsonEqual(state.content, content)) {
    if (edition !== state.edition) return { events: [], refused: changedMeanwhile }
    const resets = !jsonEqual(watchConfigOf(state.content), watchConfigOf(content))
    events.push({ type: 'AutomationChanged', data: { id, team, ...content, resets } })
  }
  if (enabled === true && !state.enabled) events.push({ type: 'AutomationEnabled', data: { id, team } })
  if (enabled === false && state.enabled) events.push({ type: 'AutomationDisabled', data: { id, team } })
  return { events }
}

/** The part of the content that decides when it fires. A change to it resets the cooldowns. */
export const watchConfigOf = ({ event, scope, run_filters, query }: AutomationContent) => ({
  event,
  scope,
  run_filters,
  query,
})

export const noSuchAutomation: Refusal = {
  kind: 'not-found',
  reason: 'Automation not found, or the API key has no access to its team.',
}

const usedBefore: Refusal = {
  kind: 'conflict',
  reason: 'The Idempotency-Key was already used for another automation. Use a new key.',
}

const changedMeanwhile: Refusal = {
  kind: 'conflict',
  reason: 'The automation was changed by another request. Try again.',
}

export const automationDecider: Decider<AutomationState, AutomationCommand, AutomationEvent> = {
  initialState: () => null,
  evolve,
  decide,
}
