import type * as t from 'io-ts'
import { oneOf } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textUpToBytes } from '../../../kernel/codec/text.js'
import { type EventOf, nothing, type Decider } from '../../../kernel/decider.js'
import { id, teamName } from '../../../kernel/ids.js'
import { sortedAfter } from '../../../kernel/sorted.js'

/** Team resources whose name is unique within the team. */
export const namedKind = oneOf('webhook', 'automation')
export type NamedKind = t.TypeOf<typeof namedKind>

const required = { team: teamName, kind: namedKind, name: textUpToBytes(256), id }

const nameTaken = open('NameTaken', {
  says: 'A name was assigned to a webhook or an automation of a team.',
  required,
})

const nameReleased = open('NameReleased', { says: 'A name was released.', required })

export const nameEvents = { NameTaken: nameTaken, NameReleased: nameReleased }

export type NameEvent = EventOf<typeof nameEvents>

/** One stream for all names of a team: it makes them unique and lists them. */
export const namesStream = (team: string): string => `names-${team}`

/** Claims a name for a team resource. */
export interface TakeName {
  readonly type: 'TakeName'
  readonly team: string
  readonly kind: NamedKind
  readonly name: string
  readonly id: string
  /** A previous owner to take the name from, since it was never created or was renamed. */
  readonly from: string | null
}

/** Does nothing if the name belongs to another resource by now. */
export interface ReleaseName {
  readonly type: 'ReleaseName'
  readonly team: string
  readonly kind: NamedKind
  readonly name: string
  readonly id: string
}

export type NameCommand = TakeName | ReleaseName

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
