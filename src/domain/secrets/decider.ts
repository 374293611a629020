import { nothing, type Decider, type Decision } from '../../kernel/decider.js'
import type { ChangeSecretUses, SecretCommand, StoreSecret } from './commands.js'
import { DEFAULT_USES, SECRET_USES, type SecretEvent, type SecretUse } from './events.js'

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
