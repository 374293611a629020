import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { open } from '../../kernel/codec/struct.js'
import { integerBetween, oneOf } from '../../kernel/codec/leaves.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, teamName } from '../../kernel/ids.js'
import { secretName } from '../webhooks/events.js'

/** What a secret may be used for. */
export const SECRET_USES = ['webhooks', 'upstreams', 'scorers'] as const
export const secretUse = oneOf(...SECRET_USES)
export type SecretUse = t.TypeOf<typeof secretUse>

/** Of a secret without `used_for`: any member may point a scorer anywhere, so that scorers are named explicitly. */
export const DEFAULT_USES: readonly SecretUse[] = ['webhooks', 'upstreams']

const required = { team: teamName, name: secretName }
const version = integerBetween(1, 2 ** 31 - 1)
const optional = {
  /** Derived from the Idempotency-Key: a repeat writes nothing. */
  request: nullable(id),
  /** Null in earlier releases, for webhooks and upstreams. */
  used_for: nullable(arrayOf(secretUse, 1)),
}

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

const secretUsesChanged = open('SecretUsesChanged', {
  says: 'What a secret may be used for was changed. `version` is its latest.',
  required: { ...required, version, used_for: arrayOf(secretUse, 1) },
})

const secretDestroyed = open('SecretDestroyed', {
  says: 'All values of a secret were deleted permanently.',
  required,
})

export const secretEvents = {
  SecretStored: secretStored,
  SecretRotated: secretRotated,
  SecretUsesChanged: secretUsesChanged,
  SecretDestroyed: secretDestroyed,
}

export type SecretEvent = EventOf<typeof secretEvents>

export const secretStream = (team: string, name: string): string => `secret-${team}/${name}`
