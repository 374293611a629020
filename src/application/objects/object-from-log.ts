import { memberText } from '../../kernel/json/text.js'
import type { Instant } from '../../kernel/codec/instant.js'
import { baseClassIn } from '../../domain/objects/classes.js'
import { objectDecider } from '../../domain/objects/decider.js'
import { objectStream, type ObjectEvent, type ObjectPublished } from '../../domain/objects/events.js'
import { aliasesOf, indexNamed, latestOf, type ObjectState } from '../../domain/objects/state.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { readBack } from '../../kernel/spill/read-back.js'
import type { StoredVersion } from '../../projections/objects/queries.js'
import { foldCache } from '../../kernel/fold-cache.js'
import { Failure } from '../failure.js'

interface ObjectFold {
  readonly state: ObjectState
  /** By version number: the revision of the last publication, and the time of the last deletion. */
  readonly published: bigint[]
  readonly deletedAt: Instant[]
}

const initialState = (): ObjectFold => ({ state: objectDecider.initialState(), published: [], deletedAt: [] })

const evolve = (fold: ObjectFold, { type, data, revision }: RecordedEvent): ObjectFold => {
  const event = { type, data } as ObjectEvent
  if (event.type === 'ObjectPublished') fold.published[event.data.version_index] = revision
  if (event.type === 'ObjectDeleted') fold.deletedAt[event.data.version_index] = event.data.deleted_at
  objectDecider.evolve(fold.state, event)
  return fold
}

/** Versions and aliases of cached folds: about 10 MB. */
const MAX_CACHED = 20_000

interface VersionRequest {
  readonly projectId: string
  readonly objectId: string
  /** A digest, `latest`, `v` with a number, or an alias. */
  readonly version: string
  readonly position: Position
  readonly withVal: boolean
}

/**
 * Reads one version of an object, also a deleted one, from the object's own stream, so that acknowledged writes are
 * visible without a projection. Folds are cached: a read takes the stream's new events and the version's publication.
 */
export const versionsFromLog = ({ eventStore, blobs }: Pick<Ports, 'eventStore' | 'blobs'>) => {
  const weightOf = ({ state, published }: ObjectFold) => published.length + state.aliases.size
  const foldOf = foldCache<ObjectFold>({ eventStore }, { initialState, evolve, weightOf }, MAX_CACHED)

  const foldAt = async (stream: string, at: Position): Promise<ObjectFold> => {
    let fold = initialState()
    for await (const event of eventStore.readStream(stream)) {
      if (event.position > at) break
      fold = evolve(fold, event)
    }
    return fold
  }

  return async ({
    projectId,
    objectId,
    version,
    position,
    withVal,
  }: VersionRequest): Promise<StoredVersion | undefined> => {
    const stream = objectStream(projectId, objectId)
    const cached = await foldOf(stream, ({ state, position: last = 0n }) =>
      last <= position ? { found: versionIn(state, version) } : undefined,
    )
    const { found } = cached ?? { found: versionIn(await foldAt(stream, position), version) }
    if (found === undefined) return undefined
    const { revision, ...rest } = found
    for await (const { data } of eventStore.readStream(stream, { from: revision, limit: 1 })) {
      const content = (withVal ? await readBack(blobs, data) : data) as ObjectPublished
      const val = withVal ? memberText(content, 'val') : null
      return { ...storedVersion(content, val), ...rest }
    }
    return undefined
  }
}

/** @throws Failure for a deleted version: a 404 that says when it was deleted */
export const requireNotDeleted = ({ deleted_at }: Pick<StoredVersion, 'deleted_at'>): void => {
  if (deleted_at !== null)
    throw new Failure('not-found', `The object version was deleted at ${deleted_at}.`, {
      body: { deleted_at },
    })
}

const versionIn = ({ state, published, deletedAt }: ObjectFold, name: string) => {
  const index = indexNamed(state, name)
  const version = index === undefined ? undefined : state.versions[index]
  if (index === undefined || version === undefined) return undefined
  return {
    revision: published[index]!,
    is_latest: index === latestOf(state),
    deleted_at: version.deleted ? deletedAt[index]! : null,
    tags: sorted(version.tags),
    aliases: sorted(aliasesOf(state, index)),
  }
}

const storedVersion = (content: ObjectPublished, val: string | null) => ({
  object_id: content.object_id,
  version_index: content.version_index,
  digest: content.digest,
  kind: content.kind,
  base_object_class: baseClassIn(content),
  leaf_object_class: content.leaf_object_class,
  created_at: content.created_at,
  wb_user_id: content.wb_user_id,
  val,
})

/** In the order of their UTF-8 bytes, as in lists of objects. */
const sorted = (labels: Iterable<string>): readonly string[] =>
  [...labels].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
