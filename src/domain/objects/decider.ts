import { nothing, type Decider, type Decision } from '../../kernel/decider.js'
import type {
  AddTags,
  DeleteVersions,
  ObjectCommand,
  PublishObject,
  RemoveTags,
  SetAliases,
} from './commands.js'
import type { ObjectEvent } from './events.js'
import { aliasesOf, versionNamed, type ObjectState, type Version } from './state.js'

type Decided = Decision<ObjectEvent>

/** Changes the state in place: copying an object's versions for each event would make a fold quadratic. */
const evolve = (state: ObjectState, { type, data }: ObjectEvent): ObjectState => {
  const { versions, aliases } = state
  switch (type) {
    case 'ObjectPublished':
      versions[data.version_index] = { digest: data.digest, deleted: false, tags: new Set() }
      return state
    case 'ObjectDeleted':
      change(state, data.version_index, () => ({ deleted: true }))
      return state
    case 'ObjectTagsAdded':
      change(state, data.version_index, ({ tags }) => ({ tags: new Set([...tags, ...data.tags]) }))
      return state
    case 'ObjectTagsRemoved':
      change(state, data.version_index, ({ tags }) => ({ tags: without(tags, data.tags) }))
      return state
    case 'ObjectAliasesSet':
      for (const alias of data.aliases) aliases.set(alias, data.version_index)
      return state
    case 'ObjectAliasesRemoved':
      for (const alias of data.aliases) aliases.delete(alias)
      return state
    default:
      return state
  }
}

const change = (
  { versions }: ObjectState,
  index: number,
  to: (version: Version) => Partial<Version>,
): void => {
  const version = versions[index]
  if (version !== undefined) versions[index] = { ...version, ...to(version) }
}

const without = (all: ReadonlySet<string>, some: readonly string[]): ReadonlySet<string> => {
  const rest = new Set(all)
  for (const one of some) rest.delete(one)
  return rest
}

const decide = (state: ObjectState, command: ObjectCommand): Decided => {
  switch (command.type) {
    case 'PublishObject':
      return publish(state, command)
    case 'DeleteVersions':
      return deleteVersions(state, command)
    case 'AddTags': {
      const version = found(state, command)
      if (version === undefined) return noSuchVersion
      const tags = [...new Set(command.tags)].filter((tag) => !version.tags.has(tag))
      return events(tags, { type: 'ObjectTagsAdded', data: { ...version.named, tags } })
    }
    case 'RemoveTags': {
      const version = found(state, command)
      if (version === undefined) return noSuchVersion
      const tags = [...new Set(command.tags)].filter((tag) => version.tags.has(tag))
      return events(tags, { type: 'ObjectTagsRemoved', data: { ...version.named, tags } })
    }
    case 'SetAliases': {
      const version = found(state, command)
      if (version === undefined) return noSuchVersion
      const { version_index } = version.named
      const aliases = [...new Set(command.aliases)].filter((one) => state.aliases.get(one) !== version_index)
      return events(aliases, { type: 'ObjectAliasesSet', data: { ...version.named, aliases } })
    }
    case 'RemoveAliases': {
      const { project_id, object_id, wb_user_id } = command
      const aliases = [...new Set(command.aliases)].filter((alias) => state.aliases.has(alias))
      return events(aliases, {
        type: 'ObjectAliasesRemoved',
        data: { project_id, object_id, aliases, wb_user_id },
      })
    }
    default:
      return command satisfies never
  }
}

/** The event, unless no label would change. */
const events = (labels: readonly string[], event: ObjectEvent): Decided =>
  labels.length === 0 ? nothing : { events: [event] }

const found = (state: ObjectState, command: AddTags | RemoveTags | SetAliases) => {
  const version_index = versionNamed(state, command.version)
  if (version_index === undefined) return undefined
  const { digest, tags } = state.versions[version_index]!
  const { project_id, object_id, wb_user_id } = command
  return { tags, named: { project_id, object_id, digest, version_index, wb_user_id } }
}

const notFound = (reason: string): Decided => ({ events: [], refused: { kind: 'not-found', reason } })

const noSuchVersion = notFound('Object version not found or deleted.')

/** Publishing deleted content again restores its version. */
const publish = ({ versions }: ObjectState, { content }: PublishObject): Decided => {
  const known = versions.findIndex(({ digest }) => digest === content.digest)
  if (versions[known]?.deleted === false) return nothing
  const version_index = known < 0 ? versions.length : known
  return { events: [{ type: 'ObjectPublished', data: { version_index, ...content } }] }
}

/** All or none: a name that is not found is most likely a mistake. */
const deleteVersions = (state: ObjectState, command: DeleteVersions): Decided => {
  const named = (command.versions ?? []).map((name) => versionNamed(state, name))
  const missing = named.flatMap((index, place) => (index === undefined ? [place] : []))
  if (missing.length > 0)
    return notFound(`digests[${missing.join(', ')}]: version not found. Nothing was deleted.`)
  const indexes = command.versions === null ? alive(state) : [...new Set(named as readonly number[])]
  if (indexes.length === 0) return notFound('Object not found, or all its versions have been deleted.')
  return { events: indexes.flatMap((index) => deletionOf(state, command, index)) }
}

const alive = ({ versions }: ObjectState): readonly number[] =>
  versions.flatMap(({ deleted }, index) => (deleted ? [] : [index]))

const deletionOf = (state: ObjectState, command: DeleteVersions, index: number): readonly ObjectEvent[] => {
  const { project_id, object_id, wb_user_id, deleted_at } = command
  const { digest, tags } = state.versions[index]!
  const ofObject = { project_id, object_id, wb_user_id }
  const version = { ...ofObject, digest, version_index: index }
  const aliases = aliasesOf(state, index)
  return [
    ...(tags.size > 0 ? [{ type: 'ObjectTagsRemoved', data: { ...version, tags: [...tags] } } as const] : []),
    ...(aliases.length > 0
      ? [{ type: 'ObjectAliasesRemoved', data: { ...ofObject, aliases } } as const]
      : []),
    { type: 'ObjectDeleted', data: { ...version, deleted_at } },
  ]
}

export const objectDecider: Decider<ObjectState, ObjectCommand, ObjectEvent> = {
  initialState: () => ({ versions: [], aliases: new Map() }),
  evolve,
  decide,
}
