import { nothing, type Decider, type Decision } from '../../kernel/decider.js'
import type { LinkVersion, RegisteredCommand, UnlinkVersion } from './commands.js'
import type { RegisteredEvent, VersionLinked } from './events.js'
import { describeVersion } from './describe.js'
import { decideLabel, LATEST, noSuchVersion, pointed, tagsAdded, withoutAliases } from './labels.js'
import { emptyCollection, everNamed, evolve, type CollectionState } from './state.js'

/** A registry's collection, which numbers its linked versions itself. */
export const registeredDecider: Decider<CollectionState, RegisteredCommand, RegisteredEvent> = {
  initialState: emptyCollection,
  evolve,
  decide: (state, command) => {
    switch (command.type) {
      case 'LinkVersion':
        return link(state, command)
      case 'UnlinkVersion':
        return unlink(state, command)
      case 'DescribeVersion':
        return describeVersion(state, command)
      default:
        return decideLabel(state, command)
    }
  },
}

/**
 * A link with its labels in one append. A repeated `link_id` writes nothing, even if the version has been unlinked since; a
 * version that is linked already gets the aliases, and leaves `latest` alone.
 */
const link = (state: CollectionState, command: LinkVersion): Decision<RegisteredEvent> => {
  const { place, source, artifactType: type, metadata, link_id, aliases, movesLatest, tags } = command
  const repeated = link_id === null ? undefined : state.byLink.get(link_id)
  if (repeated !== undefined)
    return state.versions.get(repeated)?.artifactId === source.artifact_id ? nothing : otherVersion
  const known = state.byId.get(source.artifact_id) ?? null
  if (known !== null) return { events: pointed(state, place, aliases, known) }
  const version = state.next
  const data: VersionLinked = { ...place, version, source, type, metadata, link_id }
  return {
    events: [
      { type: 'VersionLinked', data },
      ...pointed(state, place, [...(movesLatest ? [LATEST] : []), ...aliases], version),
      ...tagsAdded(place, tags, version),
    ],
  }
}

/** Also removes the aliases that point at the version. */
const unlink = (
  state: CollectionState,
  { place, version: named }: UnlinkVersion,
): Decision<RegisteredEvent> => {
  const known = everNamed(state, named)
  if (known?.source == null) return noSuchVersion
  if (known.gone) return nothing
  const { version, source } = known
  return {
    events: [
      ...withoutAliases(state, place, version),
      { type: 'VersionUnlinked', data: { ...place, version, source } },
    ],
  }
}

const otherVersion: Decision<never> = {
  events: [],
  refused: {
    kind: 'conflict',
    reason: 'The Idempotency-Key was already used to link another version. Use a new key.',
  },
}
