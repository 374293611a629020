import type { EventType } from '../../domain/webhooks/automations/events.js'
import { versionAfter, type AutomationVersion } from '../../domain/webhooks/automations/state.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'

/** The automations that are not deleted, by the event type they watch. */
export interface Automations {
  readonly apply: (event: RecordedEvent) => void
  readonly watching: (team: string, type: EventType) => readonly AutomationVersion[]
  readonly isAnyWatching: (type: EventType) => boolean
}

const KIND = 'automation'

export const openAutomations = (state: Pick<DispatcherState, 'all' | 'put' | 'remove'>): Automations => {
  const known = new Map<string, AutomationVersion>()
  const byType = new Map<EventType, Map<string, Map<string, AutomationVersion>>>()

  const teamsOf = ({ content }: AutomationVersion) => {
    const teams = byType.get(content.event.type) ?? new Map<string, Map<string, AutomationVersion>>()
    byType.set(content.event.type, teams)
    return teams
  }
  const forget = (automation: AutomationVersion) => {
    const teams = teamsOf(automation)
    const own = teams.get(automation.team)
    own?.delete(automation.id)
    if (own?.size === 0) teams.delete(automation.team)
    known.delete(automation.id)
  }
  const keep = (automation: AutomationVersion) => {
    const teams = teamsOf(automation)
    const own = teams.get(automation.team) ?? new Map<string, AutomationVersion>()
    teams.set(automation.team, own.set(automation.id, automation))
    known.set(automation.id, automation)
  }

  for (const [, stored] of state.all(KIND)) keep(decoded(stored as StoredAutomation))

  return {
    apply: (event) => {
      const id = event.stream.slice('automation-'.length)
      const before = known.get(id)
      const after = versionAfter(before, event)
      if (before !== undefined) forget(before)
      if (after === undefined || after.deleted) state.remove(KIND, id)
      else {
        keep(after)
        state.put(KIND, id, encoded(after))
      }
    },
    watching: (team, type) => [...(byType.get(type)?.get(team)?.values() ?? [])],
    isAnyWatching: (type) => (byType.get(type)?.size ?? 0) > 0,
  }
}

type Positions = 'since' | 'conditionsSince' | 'revision'
type StoredAutomation = Omit<AutomationVersion, Positions> & Readonly<Record<Positions, string>>

const encoded = (automation: AutomationVersion): StoredAutomation => ({
  ...automation,
  since: String(automation.since),
  conditionsSince: String(automation.conditionsSince),
  revision: String(automation.revision),
})

const decoded = (stored: StoredAutomation): AutomationVersion => ({
  ...stored,
  since: BigInt(stored.since),
  conditionsSince: BigInt(stored.conditionsSince),
  revision: BigInt(stored.revision),
})
