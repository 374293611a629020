import type * as t from 'io-ts'
import { oneOf } from '../codec/leaves.js'
import { open } from '../codec/struct.js'
import { textUpToBytes } from '../codec/text.js'
import type { EventOf } from '../decider.js'
import { id, teamName } from '../ids.js'

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
