import * as E from 'fp-ts/lib/Either.js'
import type { Position, RecordedEvent } from '../../../kernel/ports/event-store.js'
import { automationContent, type AutomationContent } from './events.js'

/** The version in force after a position, until the automation's next event. */
export interface AutomationVersion {
  readonly id: string
  readonly team: string
  readonly content: AutomationContent
  readonly enabled: boolean
  readonly deleted: boolean
  /** Position of the event that made this version. */
  readonly since: Position
  /** The stream revision that holds this content. */
  readonly revision: bigint
  /** Position of the last change to the conditions: earlier matches do not count for the cooldown. */
  readonly conditionsSince: Position
}

/** The version after one more event of the automation's stream. */
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
