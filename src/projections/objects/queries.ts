import type { Instant } from '../../kernel/codec/instant.js'
import { versionName } from '../../domain/objects/version-name.js'
import { inPages } from '../../kernel/pages.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { instantFrom } from '../clickhouse-values.js'
import { condition, type ObjectsFilter } from './filter.js'
import { aliasesAsOf, asOf, tagsAsOf, versionsAsOf } from './versions-as-of.js'

export type { ObjectsFilter } from './filter.js'

export const SORT_FIELDS = ['object_id', 'created_at'] as const

export interface ObjectSort {
  readonly field: (typeof SORT_FIELDS)[number]
  readonly direction: 'asc' | 'desc'
}

export interface ObjectsQuery {
  readonly projectId: string
  readonly filter: ObjectsFilter | null
  readonly position: Position
  readonly sortBy: readonly ObjectSort[]
  readonly limit: number | null
  readonly offset: number | null
}

/** The row of a version. */
export interface VersionPlace {
  readonly object_id: string
  readonly version_index: number
  /** The log position of its publication, in digits. */
  readonly position: string
  readonly is_latest: 0 | 1
  /** Bytes of its content, to cut pages before they are read. */
  readonly bytes: number
}

const PLACE = 'object_id, version_index, toString(published) AS position, is_latest, bytes'
const placesAsOf = (objects: string): string =>
  `(SELECT *, position AS published, val_bytes AS bytes FROM (${versionsAsOf(objects)}))`

/** The versions that a filter selects, sorted; then by time, name and number. */
export const versionPlaces =
  (reader: ClickHouseReader) =>
  ({ projectId, filter, position, sortBy, limit, offset }: ObjectsQuery) => {
    const { objects, versions, parameters } = condition(filter)
    const order = sortBy.map(({ field, direction }) => `${field} ${direction.toUpperCase()}, `).join('')
    return reader.query<VersionPlace>(
      `SELECT ${PLACE} FROM ${placesAsOf(objects)} WHERE ${versions}
      ORDER BY ${order} created_at, object_id, version_index
      ${limit === null ? '' : 'LIMIT {limit:UInt64}'} OFFSET {offset:UInt64}`,
      {
        ...asOf(projectId, position),
        ...parameters,
        ...(limit === null ? {} : { limit }),
        offset: offset ?? 0,
      },
    )
  }

export interface StoredVersion {
  readonly object_id: string
  readonly version_index: number
  readonly digest: string
  readonly kind: 'op' | 'object'
  readonly base_object_class: string | null
  readonly leaf_object_class: string | null
  readonly created_at: Instant
  readonly deleted_at: Instant | null
  readonly wb_user_id: string | null
  readonly is_latest: boolean
  /** The content as JSON text; null if it was not requested. */
  readonly val: string | null
  /** Bytes of the text that the digest is of; lists of versions have it. */
  readonly size_bytes?: number
  readonly tags: readonly string[]
  /** Without `latest`. */
  readonly aliases: readonly string[]
}

interface VersionRow extends Omit<
  StoredVersion,
  'created_at' | 'deleted_at' | 'is_latest' | 'tags' | 'aliases'
> {
  readonly created: string
  readonly deleted: string | null
}

const columns = (withVal: boolean): string =>
  `object_id, version_index, digest, kind, base_object_class, leaf_object_class, created_at AS created,
  deleted_at AS deleted, wb_user_id, weave_bytes AS size_bytes, ${withVal ? 'val' : 'NULL AS val'}`

/** The versions at the given places, in their order, with the labels they have at a position. */
export const versionsAt =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    places: readonly VersionPlace[],
    position: Position,
    { withVal, withLabels }: { readonly withVal: boolean; readonly withLabels: boolean },
  ): Promise<readonly StoredVersion[]> => {
    const found = await rowsAt<VersionRow>(reader)(projectId, places, columns(withVal))
    const labels = withLabels ? await labelsOf(reader)(projectId, places, position) : undefined
    return places.flatMap((place): readonly StoredVersion[] => {
      const row = found.get(place.position)
      if (row === undefined) return []
      const { created, deleted, ...rest } = row
      const { tags = [], aliases = [] } = labels?.get(keyOf(place)) ?? {}
      return [
        {
          ...rest,
          created_at: instantFrom(created),
          deleted_at: deleted === null ? null : instantFrom(deleted),
          is_latest: place.is_latest === 1,
          tags,
          aliases,
        },
      ]
    })
  }

/** Rows by their position. */
const rowsAt =
  <Row extends object>(reader: ClickHouseReader) =>
  async (projectId: string, places: readonly VersionPlace[], selected: string) => {
    const rows = await reader.query<Row & { readonly place: string }>(
      `SELECT ${selected}, toString(position) AS place FROM object_versions
      WHERE project_id = {project:String} AND object_id IN {objects:Array(String)}
        AND position IN {positions:Array(UInt64)}`,
      {
        project: projectId,
        objects: [...new Set(places.map(({ object_id }) => object_id))],
        positions: places.map((place) => BigInt(place.position)),
      },
    )
    return new Map(rows.map(({ place, ...row }) => [place, row]))
  }

type Version = Pick<VersionPlace, 'object_id' | 'version_index'>
const keyOf = ({ object_id, version_index }: Version): string => `${object_id}:${version_index}`

/** Tags and aliases by version. */
const labelsOf =
  (reader: ClickHouseReader) =>
  async (projectId: string, versions: readonly Version[], position: Position) => {
    const objects = [...new Set(versions.map(({ object_id }) => object_id))]
    const ofObjects = 'object_id IN {objects:Array(String)}'
    const grouped = (label: string, labels: string) =>
      reader.query<Version & { readonly labels: readonly string[] }>(
        `SELECT object_id, version_index, arraySort(groupArray(${label})) AS labels
        FROM (${labels}) GROUP BY object_id, version_index`,
        { ...asOf(projectId, position), objects },
      )
    const [tags, aliases] = await Promise.all([
      grouped('tag', tagsAsOf(ofObjects)),
      grouped('alias', aliasesAsOf(ofObjects)),
    ])
    const labels = new Map<string, { tags?: readonly string[]; aliases?: readonly string[] }>()
    for (const one of tags) labels.set(keyOf(one), { tags: one.labels })
    for (const one of aliases) labels.set(keyOf(one), { ...labels.get(keyOf(one)), aliases: one.labels })
    return labels
  }

const distinctLabels =
  (label: string, labels: string) =>
  (reader: ClickHouseReader) =>
  async (projectId: string, position: Position): Promise<readonly string[]> => {
    const rows = await reader.query<{ label: string }>(
      `SELECT DISTINCT ${label} AS label FROM (${labels}) ORDER BY label`,
      asOf(projectId, position),
    )
    return rows.map((row) => row.label)
  }

/** All tags of a project's versions, sorted. */
export const tagsOf = distinctLabels('tag', tagsAsOf())

/** All aliases of a project's objects, sorted. */
export const aliasesOf = distinctLabels('alias', aliasesAsOf())

export interface ObjectVersionName {
  readonly objectId: string
  /** A digest, `latest` or `v` with a number. */
  readonly digest: string
}

/** Contents read with one statement. */
const PAGE = { items: 1000, weight: 16 * 1024 * 1024 }

/**
 * The contents of versions as of a position, as JSON text in the order of their names; undefined for a version that is
 * missing or deleted, or that is named by an alias.
 */
export const objectValues =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    names: readonly ObjectVersionName[],
    position: Position,
  ): Promise<readonly (string | undefined)[]> => {
    const places = new Map<string, VersionPlace>()
    for (const version of await placesNamed(reader)(projectId, names, position))
      for (const name of [
        version.digest,
        `v${version.version_index}`,
        ...(version.is_latest === 1 ? ['latest'] : []),
      ])
        places.set(nameKey(version.object_id, name), version)
    const found = names.map(({ objectId, digest }) => places.get(nameKey(objectId, digest)))
    const distinct = [...new Set(found)].filter((place) => place !== undefined)
    const values = new Map<string, string>()
    for (const page of inPages(distinct, ({ bytes }) => bytes, PAGE))
      for (const [place, { val }] of await rowsAt<{ readonly val: string }>(reader)(projectId, page, 'val'))
        values.set(place, val)
    return found.map((place) => place && values.get(place.position))
  }

const placesNamed =
  (reader: ClickHouseReader) =>
  async (projectId: string, names: readonly ObjectVersionName[], position: Position) => {
    const digests: string[] = []
    const indexes: number[] = []
    for (const { digest } of names) {
      const name = versionName(digest)
      if (name.by === 'digest') digests.push(digest)
      if (name.by === 'index') indexes.push(name.index)
    }
    if (names.length === 0) return []
    return reader.query<VersionPlace & { readonly digest: string }>(
      `SELECT ${PLACE}, digest FROM ${placesAsOf('object_id IN {objects:Array(String)}')}
      WHERE is_latest OR digest IN {digests:Array(String)} OR version_index IN {indexes:Array(UInt64)}`,
      {
        ...asOf(projectId, position),
        objects: [...new Set(names.map(({ objectId }) => objectId))],
        digests: [...new Set(digests)],
        indexes: [...new Set(indexes)],
      },
    )
  }

/** The same for all names of a version by its number, such as `v1` and `v01`. */
const nameKey = (objectId: string, version: string): string => {
  const name = versionName(version)
  return `${objectId}:${name.by === 'index' ? `v${name.index}` : version}`
}
