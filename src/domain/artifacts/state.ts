import type { ArtifactEvent, RegisteredEvent, VersionLinked } from './events.js'
import { versionIn } from './version-name.js'

/** What decisions need to know about a version. Its metadata and files are in the event at `revision`. */
export interface KnownVersion {
  readonly version: number
  readonly artifactId: string
  /** Digest of the content; null for a linked version. */
  readonly digest: string | null
  /** The linked version; null for a version of a project. */
  readonly source: VersionLinked['source'] | null
  /** Stream revision of the event that created or linked the version. */
  readonly revision: number
  /** That of the event with its present metadata, if they changed since. */
  readonly described: number | null
  readonly tags: readonly string[]
  /** Unlinked or deleted: not listed any more, and its number is not reused. */
  readonly gone: boolean
}

/** A collection, in a project or in a registry. */
export interface CollectionState {
  /** Number of events so far, of any type: the revision of the next one. */
  readonly length: number
  /** The number of the next version. */
  readonly next: number
  /** How many versions are not gone. */
  readonly live: number
  readonly description: string | null
  readonly tags: readonly string[]
  /** By number, ascending. */
  readonly versions: Map<number, KnownVersion>
  /** Version number by alias; null for a removed alias. */
  readonly aliases: Map<string, number | null>
  readonly byDigest: Map<string, number>
  /** The runs that logged each version. */
  readonly makers: Set<string>
  /** Version number by artifact id, also of ids that were merged into a version; null for an unlinked or deleted version. */
  readonly byId: Map<string, number | null>
  readonly byLink: Map<string, number>
  /** Of the collection of a project: that of its first version. */
  readonly type: string | null
}

export const emptyCollection = (): CollectionState => ({
  length: 0,
  next: 0,
  live: 0,
  description: null,
  tags: [],
  versions: new Map(),
  aliases: new Map(),
  byDigest: new Map(),
  makers: new Set(),
  byId: new Map(),
  byLink: new Map(),
  type: null,
})

/** A member of `makers`. */
export const makerOf = (version: number, run: string): string => `${version} ${run}`

/** The version with this name or alias; undefined if there is none. */
export const versionNamed = (state: CollectionState, named: string): KnownVersion | undefined => {
  const known = everNamed(state, named)
  return known?.gone === true ? undefined : known
}

/** As `versionNamed`, including unlinked versions. */
export const everNamed = (
  { versions, aliases }: CollectionState,
  named: string,
): KnownVersion | undefined => {
  const version = versionIn(named) ?? aliases.get(named) ?? undefined
  return version === undefined ? undefined : versions.get(version)
}

export const evolve = (state: CollectionState, event: ArtifactEvent | RegisteredEvent): CollectionState => ({
  ...changed(state, event),
  length: state.length + 1,
})

const changed = (state: CollectionState, event: ArtifactEvent | RegisteredEvent): CollectionState => {
  const { aliases, byId, byDigest, byLink, makers } = state
  switch (event.type) {
    case 'VersionCreated': {
      const { version, artifact_id, digest, run_id } = event.data
      byDigest.set(digest, version)
      if (run_id != null) makers.add(makerOf(version, run_id))
      return withVersion(state, version, { artifactId: artifact_id, digest, source: null })
    }
    case 'VersionRepeated': {
      const { version, run_id, merged_id } = event.data
      if (run_id != null) makers.add(makerOf(version, run_id))
      if (merged_id != null) byId.set(merged_id, version)
      return state
    }
    case 'VersionLinked': {
      const { version, source, link_id } = event.data
      if (link_id !== null) byLink.set(link_id, version)
      return withVersion(state, version, { artifactId: source.artifact_id, digest: null, source })
    }
    case 'VersionDescribed':
      return amended(state, event.data.version, (known) => ({ ...known, described: state.length }))
    case 'VersionDeleted': {
      const { version, artifact_id } = event.data
      byId.set(artifact_id, null)
      const digest = state.versions.get(version)?.digest
      if (digest != null && byDigest.get(digest) === version) byDigest.delete(digest)
      return withoutVersion(state, version)
    }
    case 'VersionUnlinked': {
      const { version, source } = event.data
      byId.set(source.artifact_id, null)
      return withoutVersion(state, version)
    }
    case 'AliasAdded':
      aliases.set(event.data.alias, event.data.version)
      return state
    case 'AliasRemoved':
      aliases.set(event.data.alias, null)
      return state
    case 'TagAdded': {
      const { version, tag } = event.data
      return amended(state, version, (known) => ({ ...known, tags: [...known.tags, tag] }))
    }
    case 'TagRemoved': {
      const { version, tag } = event.data
      return amended(state, version, (known) => ({ ...known, tags: known.tags.filter((one) => one !== tag) }))
    }
    case 'CollectionDescribed':
      return { ...state, description: event.data.description, tags: event.data.tags }
    case 'CollectionCreated':
      return { ...state, type: event.data.type }
    default:
      // An event type that this release does not know.
      return state
  }
}

const withVersion = (
  state: CollectionState,
  version: number,
  what: Pick<KnownVersion, 'artifactId' | 'digest' | 'source'>,
): CollectionState => {
  const known = { ...what, version, revision: state.length, described: null, tags: [], gone: false }
  state.versions.set(version, known)
  state.byId.set(what.artifactId, version)
  return { ...state, next: version + 1, live: state.live + 1 }
}

const withoutVersion = (state: CollectionState, version: number): CollectionState => {
  const isLive = state.versions.get(version)?.gone === false
  const without = amended(state, version, (known) => ({ ...known, gone: true, tags: [] }))
  return isLive ? { ...without, live: state.live - 1 } : without
}

const amended = (
  state: CollectionState,
  version: number,
  amend: (known: KnownVersion) => KnownVersion,
): CollectionState => {
  const known = state.versions.get(version)
  if (known !== undefined) state.versions.set(version, amend(known))
  return state
}
