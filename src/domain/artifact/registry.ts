import { OrderedMap } from '../access/ordered-map.js'
import { nothing, type Decider } from '../decider.js'
import type { CreateRegistry } from './commands.js'
import type { RegistryEvent } from './events.js'

/** The registries of a team. */
export interface RegistriesState {
  readonly count: number
  /** From name to id. */
  readonly ids: OrderedMap<string>
  /** From id to name. */
  readonly names: OrderedMap<string>
}

export const registryDecider: Decider<RegistriesState, CreateRegistry, RegistryEvent> = {
  initialState: { count: 0, ids: new OrderedMap(), names: new OrderedMap() },

  evolve: (state, { type, data: { registry, id } }) =>
    (type as string) === 'RegistryCreated'
      ? {
          count: state.count + 1,
          ids: state.ids.set(registry, id),
          names: state.names.set(id, registry),
        }
      : state,

  decide: ({ ids, names }, { team, registry, id }) => {
    if (ids.get(registry) === id) return nothing
    if (ids.has(registry)) return refused(`There is already a registry named ${registry} in team ${team}.`)
    if (names.has(id)) return refused('Under this Idempotency-Key another registry was created.')
    return { events: [{ type: 'RegistryCreated', data: { team, registry, id } }] }
  },
}

const refused = (reason: string) => ({ events: [], refused: { kind: 'conflict', reason } as const })
