import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { open } from '../../kernel/codec/struct.js'
import { integerBetween, oneOf } from '../../kernel/codec/leaves.js'
import { textLike } from '../../kernel/codec/text.js'
import { type EventOf, nothing, type Decider, type Decision } from '../../kernel/decider.js'
import { id, teamName } from '../../kernel/ids.js'
import type { SecretName, SecretVersion } from '../../kernel/ports/secret-store.js'

/** The name of a team's stored secret, written after `$` in templates. */
export const secretName = textLike(
  'secret',
  /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
  'String should have 1 to 128 letters, digits or underscores, and not start with a digit',
)

/** What a secret may be used for. */
const SECRET_USES = ['webhooks', 'upstreams', 'scorers'] as const
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

/** The value is already durable in the secret store; the log never has it. */
export interface StoreSecret extends SecretVersion {
  readonly type: 'StoreSecret'
  /** Derived from the Idempotency-Key; null without one. */
  readonly request: string | null
  /** Null to keep them. */
  readonly usedFor: readonly SecretUse[] | null
}

export interface ChangeSecretUses extends SecretName {
  readonly type: 'ChangeSecretUses'
  readonly usedFor: readonly SecretUse[]
}

export interface DestroySecret extends SecretName {
  readonly type: 'DestroySecret'
}

export type SecretCommand = StoreSecret | ChangeSecretUses | DestroySecret

export interface SecretState {
  /** The latest version, 0 before the first. Numbers are not reused after a destroy. */
  readonly version: number
  /** All versions up to this one were destroyed. */
  readonly destroyedUpTo: number
  /** Versions created since. */
  readonly live: Set<number>
  /** Version by Idempotency-Key. */
  readonly requests: Map<string, number>
  readonly usedFor: readonly SecretUse[]
}

const evolve = (state: SecretState, event: SecretEvent): SecretState => {
  switch (event.type) {
    case 'SecretStored':
    case 'SecretRotated': {
      const { version, request, used_for } = event.data
      if (request !== null) state.requests.set(request, version)
      state.live.add(version)
      return { ...state, version, usedFor: used_for ?? DEFAULT_USES }
    }
    case 'SecretUsesChanged':
      return { ...state, usedFor: event.data.used_for }
    case 'SecretDestroyed':
      state.live.clear()
      return { ...state, destroyedUpTo: state.version, usedFor: DEFAULT_USES }
    default:
      return state
  }
}

const decide = (state: SecretState, command: SecretCommand): Decision<SecretEvent> => {
  switch (command.type) {
    case 'StoreSecret':
      return decideStored(state, command)
    case 'ChangeSecretUses':
      return decideUses(state, command)
    case 'DestroySecret': {
      const { team, name } = command
      if (state.version === 0) return NOT_FOUND
      return state.live.size === 0 ? nothing : { events: [{ type: 'SecretDestroyed', data: { team, name } }] }
    }
    default:
      return command satisfies never
  }
}

const NOT_FOUND: Decision<SecretEvent> = {
  events: [],
  refused: { kind: 'not-found', reason: 'The team has no secret with this name.' },
}

/** In one order and without repeats. */
const inOrder = (uses: readonly SecretUse[]): readonly SecretUse[] =>
  SECRET_USES.filter((use) => uses.includes(use))

const decideUses = (
  { live, version, usedFor: before }: SecretState,
  { team, name, usedFor }: ChangeSecretUses,
): Decision<SecretEvent> => {
  if (live.size === 0) return NOT_FOUND
  const used_for = inOrder(usedFor)
  return used_for.join() === before.join()
    ? nothing
    : { events: [{ type: 'SecretUsesChanged', data: { team, name, version, used_for } }] }
}

const decideStored = (
  state: SecretState,
  { team, name, version, request, usedFor }: StoreSecret,
): Decision<SecretEvent> => {
  if (request !== null && state.requests.has(request)) return nothing
  if (version <= state.version) {
    const reason = 'A concurrent request stored another value for this secret. Try again.'
    return { events: [], refused: { kind: 'conflict', reason } }
  }
  const type = state.live.size === 0 ? 'SecretStored' : 'SecretRotated'
  const used_for = inOrder(usedFor ?? state.usedFor)
  return { events: [{ type, data: { team, name, version, request, used_for } }] }
}

export const secretDecider: Decider<SecretState, SecretCommand, SecretEvent> = {
  initialState: () => ({
    version: 0,
    destroyedUpTo: 0,
    live: new Set(),
    requests: new Map(),
    usedFor: DEFAULT_USES,
  }),
  evolve,
  decide,
}
