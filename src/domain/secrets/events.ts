import { nullable } from '../../kernel/codec/containers.js'
import { open } from '../../kernel/codec/struct.js'
import { integerBetween } from '../../kernel/codec/leaves.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, teamName } from '../../kernel/ids.js'
import { secretName } from '../webhooks/events.js'

const required = { team: teamName, name: secretName }
const version = integerBetween(1, 2 ** 31 - 1)
/** Derived from the Idempotency-Key: a repeat writes nothing. */
const optional = { request: nullable(id) }

const secretStored = open('SecretStored', {
  says: 'A secret was created. Its value is stored encrypted, outside the log.',
  required: { ...required, version },
  optional,
})

const secretRotated = open('SecretRotated', {
  says: 'A secret got a new value. Messages are also signed with the previous value for one day.',
  required: { ...required, version },
  optional,
})

const secretDestroyed = open('SecretDestroyed', {
  says: 'All values of a secret were deleted permanently.',
  required,
})

export const secretEvents = {
  SecretStored: secretStored,
  SecretRotated: secretRotated,
  SecretDestroyed: secretDestroyed,
}

export type SecretEvent = EventOf<typeof secretEvents>

export const secretStream = (team: string, name: string): string => `secret-${team}/${name}`
