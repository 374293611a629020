import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { ArtifactCommand, CreateVersion, DeleteVersion, DescribeVersion } from './commands.js'
import type { ArtifactEvent } from './events.js'
import { decideLabel, noSuchVersion, pointed, withoutAliases } from './labels.js'
import { emptyCollection, everNamed, evolve, versionNamed, type CollectionState } from './state.js'

/** The alias that always moves to the newest version. */
const LATEST = 'latest'

/** A collection of a project. Content that was stored before is the same version again. */
export const artifactDecider: Decider<CollectionState, ArtifactCommand, ArtifactEvent> = {
  initialState: emptyCollection,
  evolve,
  decide: (state, command) => {
    switch (command.type) {
      case 'CreateVersion':
        return createVersion(state, command)
      case 'DescribeVersion':
        return describeVersion(state, command)
      case 'DeleteVersion':
        return deleteVersion(state, command)
      default:
        return decideLabel(state, command)
    }
  },
}

/** A repeated id writes nothing and leaves aliases alone: they may have moved since. */
const createVersion = (state: CollectionState, command: CreateVersion): Decision<ArtifactEvent> => {
  const { place, artifact_id, digest, artifactType: type, metadata, files, uploaded, aliases, now } = command
  const repeated = state.byId.get(artifact_id) ?? undefined
  if (repeated !== undefined) return state.versions.get(repeated)?.digest === digest ? nothing : otherContent
  const same = state.byDigest.get(digest)
  if (same !== undefined) return { events: pointed(state, place, aliases, same) }
  const version = state.next
  const created: ArtifactEvent = {
    type: 'VersionCreated',
    data: {
      ...place,
      version,
      artifact_id,
      digest,
      type,
      metadata,
      files,
      created_at: now,
      manifest: uploaded?.manifest ?? null,
      description: uploaded?.description ?? null,
      run_id: uploaded?.run_id ?? null,
      history_step: uploaded?.history_step ?? null,
      ttl_seconds: uploaded?.ttl_seconds ?? null,
    },
  }
  const tags = [...new Set(uploaded?.tags)].map((tag): ArtifactEvent => ({
    type: 'TagAdded',
    data: { ...place, version, tag },
  }))
  const first: readonly ArtifactEvent[] =
    version === 0 ? [{ type: 'CollectionCreated', data: { ...place, type } }] : []
  return { events: [...first, created, ...pointed(state, place, [LATEST, ...aliases], version), ...tags] }
}

const describeVersion = (state: CollectionState, command: DescribeVersion): Decision<ArtifactEvent> => {
  const { place, version: named, known } = command
  const described = versionNamed(state, named)
  if (described === undefined) return noSuchVersion
  const next = {
    metadata: command.metadata ?? known.metadata,
    description: command.description ?? known.description,
    ttl_seconds: command.ttl_seconds ?? known.ttl_seconds,
  }
  if (jsonEqual(next, { ...known })) return nothing
  const { version, artifactId: artifact_id } = described
  return { events: [{ type: 'VersionDescribed', data: { ...place, version, artifact_id, ...next } }] }
}

/** Also removes the aliases that point at the version. */
const deleteVersion = (
  state: CollectionState,
  { place, version: named, withAliases }: DeleteVersion,
): Decision<ArtifactEvent> => {
  const known = everNamed(state, named)
  if (known === undefined) return noSuchVersion
  if (known.gone) return nothing
  const removed = withoutAliases(state, place, known.version)
  if (removed.length > 0 && !withAliases)
    return refused(
      'conflict',
      'The version has aliases. Remove them first, or delete it together with its aliases.',
    )
  const { version, artifactId: artifact_id } = known
  return { events: [...removed, { type: 'VersionDeleted', data: { ...place, version, artifact_id } }] }
}

const otherContent: Decision<never> = {
  events: [],
  refused: {
    kind: 'conflict',
    reason: 'The Idempotency-Key was already used for another version. Use a new key.',
  },
}
