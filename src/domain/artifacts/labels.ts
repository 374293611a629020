import { nothing, type Decision } from '../../kernel/decider.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { LabelCommand } from './commands.js'
import type { ArtifactEvent, RegisteredEvent } from './events.js'
import type { CollectionPlace } from './place.js'
import { versionNamed, type CollectionState, type KnownVersion } from './state.js'

type LabelEvent = Extract<ArtifactEvent, RegisteredEvent>

/** In a project it moves to each new version. */
export const LATEST = 'latest'

/** Aliases and tags, which are the same in projects and registries. */
export const decideLabel = (state: CollectionState, command: LabelCommand): Decision<LabelEvent> => {
  const { place } = command
  switch (command.type) {
    case 'DescribeCollection': {
      const { description = state.description, tagsToAdd = [], tagsToDelete = [] } = command
      if (state.live === 0) return noSuchCollection
      const tags = [...new Set([...state.tags, ...tagsToAdd])].filter((one) => !tagsToDelete.includes(one))
      return description === state.description && jsonEqual(tags, [...state.tags])
        ? nothing
        : { events: [{ type: 'CollectionDescribed', data: { ...place, description, tags } }] }
    }
    case 'SetAlias': {
      const known = versionNamed(state, command.version)
      return known === undefined
        ? noSuchVersion
        : { events: pointed(state, place, [command.alias], known.version) }
    }
    case 'RemoveAlias': {
      const { alias } = command
      if (state.next === 0) return noSuchCollection
      const version = state.aliases.get(alias) ?? null
      return version === null
        ? nothing
        : { events: [{ type: 'AliasRemoved', data: { ...place, version, alias } }] }
    }
    case 'AddTag': {
      const { tag } = command
      const known = versionNamed(state, command.version)
      if (known === undefined) return noSuchVersion
      return known.tags.includes(tag) ? nothing : { events: [tagged(place, known, 'TagAdded', tag)] }
    }
    case 'RemoveTag': {
      const { tag } = command
      const known = versionNamed(state, command.version)
      if (known === undefined) return noSuchVersion
      return known.tags.includes(tag) ? { events: [tagged(place, known, 'TagRemoved', tag)] } : nothing
    }
    default:
      return command satisfies never
  }
}

/**
 * Points aliases at a version. An alias is removed from the version it pointed at; one that is already right is left
 * alone.
 */
export const pointed = (
  { aliases: known }: CollectionState,
  place: CollectionPlace,
  aliases: readonly string[],
  version: number,
): readonly LabelEvent[] =>
  [...new Set(aliases)].flatMap((alias): readonly LabelEvent[] => {
    const before = known.get(alias) ?? null
    if (before === version) return []
    const added: LabelEvent = { type: 'AliasAdded', data: { ...place, version, alias } }
    return before === null
      ? [added]
      : [{ type: 'AliasRemoved', data: { ...place, version: before, alias } }, added]
  })

/** The tags of a new version. */
export const tagsAdded = (
  place: CollectionPlace,
  tags: readonly string[],
  version: number,
): readonly LabelEvent[] =>
  [...new Set(tags)].map((tag) => ({ type: 'TagAdded', data: { ...place, version, tag } }))

/** Removes all aliases of a version. */
export const withoutAliases = (
  { aliases }: CollectionState,
  place: CollectionPlace,
  version: number,
): readonly LabelEvent[] =>
  [...aliases]
    .flatMap(([alias, points]) => (points === version ? [alias] : []))
    .sort()
    .map((alias) => ({ type: 'AliasRemoved', data: { ...place, version, alias } }))

const tagged = (
  place: CollectionPlace,
  { version }: KnownVersion,
  type: 'TagAdded' | 'TagRemoved',
  tag: string,
): LabelEvent => ({ type, data: { ...place, version, tag } })

export const noSuchVersion: Decision<never> = {
  events: [],
  refused: { kind: 'not-found', reason: 'Version not found in the collection.' },
}

const noSuchCollection: Decision<never> = {
  events: [],
  refused: { kind: 'not-found', reason: 'Collection not found.' },
}
