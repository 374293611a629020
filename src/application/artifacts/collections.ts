import type { ArtifactCommand, RegisteredCommand } from '../../domain/artifacts/commands.js'
import { artifactDecider } from '../../domain/artifacts/decider.js'
import type { ArtifactEvent, RegisteredEvent } from '../../domain/artifacts/events.js'
import { collectionStream, type CollectionPlace } from '../../domain/artifacts/place.js'
import { registeredDecider } from '../../domain/artifacts/registered-decider.js'
import type { CollectionState } from '../../domain/artifacts/state.js'
import type { Cause } from '../../kernel/event.js'
import { execute, readState, readStateAt, type ExecuteResult } from '../../kernel/execute.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'

type Write<Command, Event> = (
  command: Command,
  cause: Cause,
) => Promise<ExecuteResult<CollectionState, Event>>

/** Reads and writes collections. No state may be kept across an `await`. */
export interface Collections {
  /** A collection as of now. */
  readonly read: (place: CollectionPlace) => Promise<CollectionState>
  /** As `read`, as of a position. */
  readonly readAt: (place: CollectionPlace, at: Position) => Promise<CollectionState>
  /** The event that made a collection; undefined if there is none. */
  readonly first: (place: CollectionPlace) => Promise<RecordedEvent | undefined>
  readonly write: Write<ArtifactCommand, ArtifactEvent>
  readonly writeRegistered: Write<RegisteredCommand, RegisteredEvent>
}

export const openCollections = (ports: Pick<Ports, 'eventStore' | 'ids'>): Collections => ({
  read: (place) => readState(ports, artifactDecider, collectionStream(place)),
  readAt: (place, at) => readStateAt(ports, artifactDecider, collectionStream(place), at),
  first: async (place) => {
    for await (const event of ports.eventStore.readStream(collectionStream(place), { limit: 1 })) return event
    return undefined
  },
  write: (command, cause) =>
    execute(ports)(artifactDecider, collectionStream(command.place), [command], cause),
  writeRegistered: (command, cause) =>
    execute(ports)(registeredDecider, collectionStream(command.place), [command], cause),
})
