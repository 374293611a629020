import * as E from 'fp-ts/lib/Either.js'
import type { Position, RecordedEvent } from '../ports/event-store.js'
import { automationContent, type AutomationContent } from './events.js'

/** An automation as it is in force behind a position, until its next event. */
export interface AutomationVersion {
  readonly id: string
  readonly team: string
  readonly content: AutomationContent
  readonly enabled: boolean
  readonly deleted: boolean
  /** Where the event stands that made it so. */
  readonly since: Position
  /** The revision of the automation's stream that holds this content. */
  readonly revision: bigint
  /** Where what it watches for was last changed: matches before that are no cooldown. */
  readonly conditionsSince: Position
}

/** The version that an event of an automation's stream makes of the one before. */
export const versionAfter = (
  before: AutomationVersion | undefined,
  event: Pick<RecordedEvent, 'type' | 'data' | 'position' | 'revision'>,
): AutomationVersion | undefined => {
  const { type, data, position: since, revision } = event
  if (type === 'AutomationCreated' || type === 'AutomationChanged') {
    const decoded = automationContent.decode(data)
    if (E.isLeft(decoded)) return before
    const content = decoded.right
    if (before !== undefined) {
      const conditionsSince = data['resets'] === true ? since : before.conditionsSince
      return { ...before, content, revision, since, conditionsSince }
    }
    const { id, team, enabled } = data
    if (typeof id !== 'string' || typeof team !== 'string') return undefined
    const standing = { content, enabled: enabled !== false, deleted: false }
    return { id, team, ...standing, since, revision, conditionsSince: since }
  }
  if (before === undefined) return undefined
  switch (type) {
    case 'AutomationEnabled':
      return { ...before, enabled: true, since }
    case 'AutomationDisabled':
      return { ...before, enabled: false, since }
    case 'AutomationDeleted':
      return { ...before, deleted: true, since }
    default:
      return before
  }
}
