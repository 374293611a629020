import type { ArtifactCommand, RegisteredCommand } from '../../domain/artifacts/commands.js'
import { artifactDecider } from '../../domain/artifacts/decider.js'
import type { ArtifactEvent, RegisteredEvent } from '../../domain/artifacts/events.js'
import { collectionStream } from '../../domain/artifacts/place.js'
import { registeredDecider } from '../../domain/artifacts/registered-decider.js'
import { emptyCollection, evolve, type CollectionState } from '../../domain/artifacts/state.js'
import type { Decider } from '../../kernel/decider.js'
import type { Cause } from '../../kernel/event.js'
import type { ExecuteResult } from '../../kernel/execute.js'
import { executeOnFold, foldCache, type FoldCache } from '../../kernel/fold-cache.js'
import type { Ports } from '../../kernel/ports/ports.js'

type CollectionPorts = Pick<Ports, 'eventStore' | 'ids'>

export interface Collections {
  readonly stateOf: FoldCache<CollectionState>
  readonly write: WriteCollection<ArtifactCommand, ArtifactEvent>
  readonly writeRegistered: WriteCollection<RegisteredCommand, RegisteredEvent>
}

/** `answer` gets the collection before the events. */
export type WriteCollection<Command, Event> = <Answer>(
  command: Command,
  cause: Cause,
  answer: (before: CollectionState, events: readonly Event[]) => Answer,
) => Promise<ExecuteResult<Answer, Event>>

/** Events of collections whose folds are kept: some 60 MB. */
const MOST = 100_000

export const openCollections = (ports: CollectionPorts): Collections => {
  const stateOf = foldCache<CollectionState>(
    ports,
    {
      initialState: emptyCollection,
      evolve: (state, { type, data }) =>
        evolve(state, { type, data } as unknown as ArtifactEvent | RegisteredEvent),
      weightOf: ({ length }) => length,
    },
    MOST,
  )

  const writer =
    <Command extends ArtifactCommand | RegisteredCommand, Event extends ArtifactEvent | RegisteredEvent>(
      decider: Decider<CollectionState, Command, Event>,
    ): WriteCollection<Command, Event> =>
    (command, cause, answer) =>
      executeOnFold(ports)(stateOf, decider, collectionStream(command.place), command, cause, answer)

  return { stateOf, write: writer(artifactDecider), writeRegistered: writer(registeredDecider) }
}
