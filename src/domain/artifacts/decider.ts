import { nothing, refused, type Decider, type Decision } from '../../kernel/decider.js'
import type { ArtifactCommand, CreateVersion, DeleteVersion, RepeatVersion } from './commands.js'
import type { ArtifactEvent } from './events.js'
import { describeVersion } from './describe.js'
import { decideLabel, LATEST, noSuchVersion, pointed, tagsAdded, withoutAliases } from './labels.js'
import { emptyCollection, everNamed, evolve, makerOf, type CollectionState } from './state.js'

/** A collection of a project. Content that was stored before is the same version again. */
export const artifactDecider: Decider<CollectionState, ArtifactCommand, ArtifactEvent> = {
  initialState: emptyCollection,
  evolve,
  decide: (state, command) => {
    switch (command.type) {
      case 'CreateVersion':
        return createVersion(state, command)
      case 'RepeatVersion':
        return repeatVersion(state, command)
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
  const repeated = state.versions.get(state.byId.get(artifact_id) ?? -1)
  if (repeated?.gone === false) return repeated.digest === digest ? nothing : otherContent
  const same = state.byDigest.get(digest)
  if (same !== undefined && uploaded === null) return { events: pointed(state, place, aliases, same) }
  if (same !== undefined) {
    const { run_id, tags } = uploaded!
    return repeatVersion(state, {
      type: 'RepeatVersion',
      place,
      digest,
      run_id,
      merged_id: artifact_id,
      aliases,
      tags,
    })
  }
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
  const tags = tagsAdded(place, uploaded?.tags ?? [], version)
  const first: readonly ArtifactEvent[] =
    state.live === 0 ? [{ type: 'CollectionCreated', data: { ...place, type } }] : []
  return { events: [...first, created, ...pointed(state, place, [LATEST, ...aliases], version), ...tags] }
}

/** The version gets the aliases and tags. */
const repeatVersion = (state: CollectionState, command: RepeatVersion): Decision<ArtifactEvent> => {
  const { place, digest, run_id, merged_id, aliases, tags } = command
  const known = state.versions.get(state.byDigest.get(digest) ?? -1)
  if (known === undefined) return noSuchVersion
  const { version, artifactId: artifact_id } = known
  const isNew =
    (merged_id !== null && state.byId.get(merged_id) !== version) ||
    (run_id !== null && !state.makers.has(makerOf(version, run_id)))
  const repeated: readonly ArtifactEvent[] = isNew
    ? [{ type: 'VersionRepeated', data: { ...place, version, artifact_id, run_id, merged_id } }]
    : []
  const named = pointed(state, place, aliases, version)
  const tagged = tagsAdded(
    place,
    tags.filter((tag) => !known.tags.includes(tag)),
    version,
  )
  return { events: [...repeated, ...named, ...tagged] }
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
