import { nothing, type Decider, type Decision } from '../../kernel/decider.js'
import type { SecretCommand, StoreSecret } from './commands.js'
import type { SecretEvent } from './events.js'

export interface SecretState {
  /** The latest version, 0 before the first. Numbers are not reused after a destroy. */
  readonly version: number
  /** All versions up to this one were destroyed. */
  readonly destroyedUpTo: number
  /** Versions created since. */
  readonly live: Set<number>
  /** Version by Idempotency-Key. */
  readonly requests: Map<string, number>
}

const evolve = (state: SecretState, event: SecretEvent): SecretState => {
  switch (event.type) {
    case 'SecretStored':
    case 'SecretRotated': {
      const { version, request } = event.data
      if (request !== null) state.requests.set(request, version)
      state.live.add(version)
      return { ...state, version }
    }
    case 'SecretDestroyed':
      state.live.clear()
      return { ...state, destroyedUpTo: state.version }
    default:
      return state
  }
}

const decide = (state: SecretState, command: SecretCommand): Decision<SecretEvent> => {
  switch (command.type) {
    case 'StoreSecret':
      return decideStored(state, command)
    case 'DestroySecret': {
      const { team, name } = command
      if (state.version === 0)
        return {
          events: [],
          refused: { kind: 'not-found', reason: 'The team has no secret with this name.' },
        }
      return state.live.size === 0 ? nothing : { events: [{ type: 'SecretDestroyed', data: { team, name } }] }
    }
    default:
      return command satisfies never
  }
}

const decideStored = (
  state: SecretState,
  { team, name, version, request }: StoreSecret,
): Decision<SecretEvent> => {
  if (request !== null && state.requests.has(request)) return nothing
  if (version <= state.version) {
    const reason = 'A concurrent request stored another value for this secret. Try again.'
    return { events: [], refused: { kind: 'conflict', reason } }
  }
  const type = state.live.size === 0 ? 'SecretStored' : 'SecretRotated'
  return { events: [{ type, data: { team, name, version, request } }] }
}

export const secretDecider: Decider<SecretState, SecretCommand, SecretEvent> = {
  initialState: () => ({ version: 0, destroyedUpTo: 0, live: new Set(), requests: new Map() }),
  evolve,
  decide,
}
