import { sortedAfter } from '../../../kernel/sorted.js'
import { nothing, type Decider } from '../../../kernel/decider.js'
import type { NameCommand } from './commands.js'
import type { NamedKind, NameEvent } from './events.js'

/** Owner ids of a team's names, by kind; null for a released name. */
export type NameRegistry = Readonly<Record<NamedKind, Map<string, string | null>>>

/** The owner's id; undefined for a free name. */
export const ownerOf = (roster: NameRegistry, kind: NamedKind, name: string): string | undefined =>
  roster[kind].get(name) ?? undefined

/** The owned names with their owners, sorted, starting after `after`. */
export function* namesAfter(roster: NameRegistry, kind: NamedKind, after?: string) {
  for (const [name, id] of sortedAfter(roster[kind], after)) if (id !== null) yield { name, id }
}

/** One stream per team makes names unique. */
export const namesDecider: Decider<NameRegistry, NameCommand, NameEvent> = {
  initialState: () => ({ webhook: new Map(), automation: new Map() }),

  evolve: (roster, { type, data: { kind, name, id } }) => {
    switch (type) {
      case 'NameTaken':
        roster[kind].set(name, id)
        return roster
      case 'NameReleased':
        roster[kind].set(name, null)
        return roster
      default:
        // A newer release may have written an event type that this one does not know.
        return roster
    }
  },

  decide: (roster, command) => {
    const { type, team, kind, name, id } = command
    const holder = ownerOf(roster, kind, name)
    switch (type) {
      case 'TakeName': {
        const taken: NameEvent = { type: 'NameTaken', data: { team, kind, name, id } }
        if (holder === id) return nothing
        if (holder === undefined) return { events: [taken] }
        if (holder === command.from)
          return { events: [{ type: 'NameReleased', data: { team, kind, name, id: holder } }, taken] }
        const reason = `A ${kind} named ${name} already exists in the team.`
        return { events: [], refused: { kind: 'conflict', reason } }
      }
      case 'ReleaseName':
        return holder === id
          ? { events: [{ type: 'NameReleased', data: { team, kind, name, id } }] }
          : nothing
      default:
        return type satisfies never
    }
  },
}
