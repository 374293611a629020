import { sortedAfter } from '../sorted.js'
import { nothing, type Decider } from '../decider.js'
import type { NameCommand } from './commands.js'
import type { NamedKind, NameEvent } from './events.js'

/** The names of a team's things, by kind: the id that each stands for, null for one that was released. */
export type Roster = Readonly<Record<NamedKind, Map<string, string | null>>>

/** What a name stands for; undefined for nothing. */
export const holderOf = (roster: Roster, kind: NamedKind, name: string): string | undefined =>
  roster[kind].get(name) ?? undefined

/** The names that stand for something, in their order, behind `after`. */
export function* namesAfter(roster: Roster, kind: NamedKind, after?: string) {
  for (const [name, id] of sortedAfter(roster[kind], after)) if (id !== null) yield { name, id }
}

/** One stream a team decides which names are taken, whatever they stand for. */
export const namesDecider: Decider<Roster, NameCommand, NameEvent> = {
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
        // A newer process may already write events that this one does not know.
        return roster
    }
  },

  decide: (roster, command) => {
    const { type, team, kind, name, id } = command
    const holder = holderOf(roster, kind, name)
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
