import { nothing, type Decision } from '../../kernel/decider.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { DescribeVersion } from './commands.js'
import type { ArtifactEvent, RegisteredEvent } from './events.js'
import { noSuchVersion } from './labels.js'
import { versionNamed, type CollectionState } from './state.js'

/** Changes the metadata or the description of a version, in a project or in a registry. */
export const describeVersion = (
  state: CollectionState,
  command: DescribeVersion,
): Decision<Extract<ArtifactEvent, RegisteredEvent>> => {
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
