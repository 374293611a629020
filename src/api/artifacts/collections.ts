import type { ArtifactCommand, RegisteredCommand } from '../../domain/artifact/commands.js'
import { artifactDecider } from '../../domain/artifact/decider.js'
import type { ArtifactEvent, RegisteredEvent } from '../../domain/artifact/events.js'
import { collectionStream } from '../../domain/artifact/place.js'
import { registeredDecider } from '../../domain/artifact/registered-decider.js'
import { copyCollection, emptyCollection, evolve, type CollectionState } from '../../domain/artifact/state.js'
import type { Decider } from '../../domain/decider.js'
import type { Cause } from '../../domain/event.js'
import { execute, type ExecuteResult } from '../../runtime/execute.js'
import { foldCache, type FoldCache } from '../../runtime/fold-cache.js'
import type { Ports } from '../../domain/ports/ports.js'
import { throwIfRefused } from '../auth/rights.js'

type CollectionPorts = Pick<Ports, 'eventStore' | 'ids'>

export interface Collections {
  readonly stateOf: FoldCache<CollectionState>
  readonly write: (command: ArtifactCommand, cause: Cause) => Promise<ExecuteResult<CollectionState>>
  readonly writeRegistered: (
    command: RegisteredCommand,
    cause: Cause,
  ) => Promise<ExecuteResult<CollectionState>>
}

/** The events that the cached collections may hold together: about 60 MB. */
const MOST = 100_000

export const openCollections = (ports: CollectionPorts): Collections => {
  const stateOf = foldCache<CollectionState>(
    ports,
    {
      initialState: emptyCollection,
      copy: copyCollection,
      evolve: (state, { type, data }) =>
        evolve(state, { type, data } as unknown as ArtifactEvent | RegisteredEvent),
      weightOf: ({ length }) => length,
    },
    MOST,
  )

  const writer =
    <Command extends ArtifactCommand | RegisteredCommand, Event extends ArtifactEvent | RegisteredEvent>(
      decider: Decider<CollectionState, Command, Event>,
    ) =>
    async (command: Command, cause: Cause) => {
      const stream = collectionStream(command.place)
      const reload = async () => {
        const loaded = await stateOf(stream)
        return { ...loaded, state: copyCollection(loaded.state) }
      }
      const executed = await execute(ports)(decider, stream, [command], cause, { reload })
      throwIfRefused(executed.refusals.get(0))
      return executed
    }

  return { stateOf, write: writer(artifactDecider), writeRegistered: writer(registeredDecider) }
}
