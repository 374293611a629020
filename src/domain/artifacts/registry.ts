import { nothing, type Decider } from '../../kernel/decider.js'
import type { CreateRegistry } from './commands.js'
import type { RegistryEvent } from './events.js'

/** The registries of a team. */
export interface RegistriesState {
  /** Registry ids by name. */
  readonly ids: Map<string, string>
  /** Registry names by id. */
  readonly names: Map<string, string>
}

export const registryDecider: Decider<RegistriesState, CreateRegistry, RegistryEvent> = {
  initialState: () => ({ ids: new Map(), names: new Map() }),

  evolve: (state, { type, data: { registry, id } }) => {
    if ((type as string) !== 'RegistryCreated') return state
    state.ids.set(registry, id)
    state.names.set(id, registry)
    return state
  },

  decide: ({ ids, names }, { team, registry, id }) => {
    if (ids.get(registry) === id) return nothing
    if (ids.has(registry)) return refused(`A registry named ${registry} already exists in team ${team}.`)
    if (names.has(id))
      return refused('The Idempotency-Key was already used for another registry. Use a new key.')
    return { events: [{ type: 'RegistryCreated', data: { team, registry, id } }] }
  },
}

const refused = (reason: string) => ({ events: [], refused: { kind: 'conflict', reason } as const })
