import { nothing, type Decider, type Decision } from '../../kernel/decider.js'
import type { LinkVersion, RegisteredCommand, UnlinkVersion } from './commands.js'
import type { RegisteredEvent, VersionLinked } from './events.js'
import { decideLabel, noSuchVersion, withoutAliases } from './labels.js'
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
      default:
        return decideLabel(state, command)
    }
  },
}

/** A repeated link writes nothing, even if the version has been unlinked since. */
const link = (state: CollectionState, command: LinkVersion): Decision<RegisteredEvent> => {
  const { place, source, artifactType: type, metadata, link_id } = command
  const repeated = link_id === null ? undefined : state.byLink.get(link_id)
  if (repeated !== undefined)
    return state.versions.get(repeated)?.artifactId === source.artifact_id ? nothing : otherVersion
  if ((state.byId.get(source.artifact_id) ?? null) !== null) return nothing
  const data: VersionLinked = { ...place, version: state.next, source, type, metadata, link_id }
  return { events: [{ type: 'VersionLinked', data }] }
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
