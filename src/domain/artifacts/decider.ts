import { nothing, type Decider, type Decision } from '../../kernel/decider.js'
import type { ArtifactCommand, CreateVersion } from './commands.js'
import type { ArtifactEvent } from './events.js'
import { decideLabel, pointed } from './labels.js'
import { emptyCollection, evolve, type CollectionState } from './state.js'

/** The alias that always moves to the newest version. */
const LATEST = 'latest'

/** A collection of a project. Content that was stored before is the same version again. */
export const artifactDecider: Decider<CollectionState, ArtifactCommand, ArtifactEvent> = {
  initialState: emptyCollection,
  evolve,
  decide: (state, command) =>
    command.type === 'CreateVersion' ? createVersion(state, command) : decideLabel(state, command),
}

/** A repeated id writes nothing and leaves aliases alone: they may have moved since. */
const createVersion = (state: CollectionState, command: CreateVersion): Decision<ArtifactEvent> => {
  const { place, artifact_id, digest, artifactType: type, metadata, files, aliases, now } = command
  const repeated = state.byId.get(artifact_id) ?? undefined
  if (repeated !== undefined) return state.versions.get(repeated)?.digest === digest ? nothing : otherContent
  const same = state.byDigest.get(digest)
  if (same !== undefined) return { events: pointed(state, place, aliases, same) }
  const version = state.next
  const created: ArtifactEvent = {
    type: 'VersionCreated',
    data: { ...place, version, artifact_id, digest, type, metadata, files, created_at: now },
  }
  const first: readonly ArtifactEvent[] =
    version === 0 ? [{ type: 'CollectionCreated', data: { ...place, type } }] : []
  return { events: [...first, created, ...pointed(state, place, [LATEST, ...aliases], version)] }
}

const otherContent: Decision<never> = {
  events: [],
  refused: {
    kind: 'conflict',
    reason: 'The Idempotency-Key was already used for another version. Use a new key.',
  },
}
