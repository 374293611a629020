import type * as t from 'io-ts'
import { oneOf } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textUpToBytes } from '../../../kernel/codec/text.js'
import type { EventOf } from '../../../kernel/decider.js'
import { id, teamName } from '../../../kernel/ids.js'

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
