import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { condition, type ObjectsFilter } from './filter.js'
import { asOf, standingAliases, standingTags, standingVersions } from './standing.js'
import { columns, storedVersion, type StoredVersion, type VersionRow } from './stored-version.js'

export { objectValues } from './object-values.js'
export { readVersion } from './read-version.js'
export type { ObjectsFilter } from './filter.js'
export type { StoredVersion } from './stored-version.js'

export const SORT_FIELDS = ['object_id', 'created_at'] as const

export interface ObjectSort {
  readonly field: (typeof SORT_FIELDS)[number]
  readonly direction: 'asc' | 'desc'
}

export interface ObjectsQuestion {
  readonly projectId: string
  readonly filter: ObjectsFilter | null
  readonly position: Position
  readonly sortBy: readonly ObjectSort[]
  readonly limit: number | null
  readonly offset: number | null
}

/** Where a version that stands is to be found. */
export interface VersionPlace {
  readonly object_id: string
  readonly version_index: number
  /** The log position of its publication, in digits. */
  readonly position: string
  readonly is_latest: 0 | 1
  /** Bytes of its content, so that pages can be cut before they are read. */
  readonly bytes: number
}

/** The versions that a filter selects, in order: as asked, then by time, name and number. */
export const versionPlaces =
  (reader: ClickHouseReader) =>
  ({ projectId, filter, position, sortBy, limit, offset }: ObjectsQuestion) => {
    const { objects, versions, parameters } = condition(filter)
    const order = [
      ...sortBy.map(({ field, direction }) => `${field} ${direction.toUpperCase()}`),
      'created_at',
      'object_id',
      'version_index',
    ]
    return reader.query<VersionPlace>(
      `SELECT object_id, version_index, toString(published) AS position, is_latest, bytes FROM (
        SELECT object_id, version_index, position AS published, is_latest, val_bytes AS bytes, created_at
        FROM (${standingVersions(objects)}) WHERE ${versions}
      ) ORDER BY ${order.join(', ')} ${limit === null ? '' : 'LIMIT {limit:UInt64}'} OFFSET {offset:UInt64}`,
      {
        ...asOf(projectId, position),
        ...parameters,
        ...(limit === null ? {} : { limit }),
        offset: offset ?? 0,
      },
    )
  }

interface Wanted {
  readonly withVal: boolean
  readonly withLabels: boolean
}

/** The versions at the given places, in the order of the places, with the labels they have at a position. */
export const versionsAt =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    places: readonly VersionPlace[],
    position: Position,
    { withVal, withLabels }: Wanted,
  ): Promise<readonly StoredVersion[]> => {
    const rows = await reader.query<VersionRow & { readonly place: string }>(
      `SELECT ${columns(withVal)}, toString(position) AS place FROM object_versions
      WHERE project_id = {project:String} AND object_id IN {objects:Array(String)}
        AND position IN {positions:Array(UInt64)}`,
      {
        project: projectId,
        objects: [...new Set(places.map(({ object_id }) => object_id))],
        positions: places.map((place) => BigInt(place.position)),
      },
    )
    const found = new Map(rows.map(({ place, ...row }) => [place, row]))
    const labels = withLabels ? await labelsOf(reader)(projectId, places, position) : undefined
    return places.flatMap((place) => {
      const row = found.get(place.position)
      const { tags = [], aliases = [] } = labels?.get(keyOf(place)) ?? {}
      return row === undefined
        ? []
        : [storedVersion(row, { is_latest: place.is_latest === 1, tags, aliases })]
    })
  }

type Version = Pick<VersionPlace, 'object_id' | 'version_index'>

const keyOf = ({ object_id, version_index }: Version): string => `${object_id}:${version_index}`

/** Tags and aliases by version. */
const labelsOf =
  (reader: ClickHouseReader) =>
  async (projectId: string, versions: readonly Version[], position: Position) => {
    const objects = [...new Set(versions.map(({ object_id }) => object_id))]
    const parameters = { ...asOf(projectId, position), objects }
    const ofObjects = 'object_id IN {objects:Array(String)}'
    const [tags, aliases] = await Promise.all([
      reader.query<Version & { readonly tags: readonly string[] }>(
        `SELECT object_id, version_index, arraySort(groupArray(tag)) AS tags
        FROM (${standingTags(ofObjects)}) GROUP BY object_id, version_index`,
        parameters,
      ),
      reader.query<Version & { readonly aliases: readonly string[] }>(
        `SELECT object_id, version_index, arraySort(groupArray(alias)) AS aliases
        FROM (${standingAliases(ofObjects)}) GROUP BY object_id, version_index`,
        parameters,
      ),
    ])
    const labels = new Map<string, { tags?: readonly string[]; aliases?: readonly string[] }>()
    for (const one of tags) labels.set(keyOf(one), { tags: one.tags })
    for (const one of aliases) labels.set(keyOf(one), { ...labels.get(keyOf(one)), aliases: one.aliases })
    return labels
  }

/** Every tag of a project's versions, sorted. */
export const tagsOf = (reader: ClickHouseReader) => async (projectId: string, position: Position) => {
  const rows = await reader.query<{ tag: string }>(
    `SELECT DISTINCT tag FROM (${standingTags()}) ORDER BY tag`,
    asOf(projectId, position),
  )
  return rows.map(({ tag }) => tag)
}

/** Every alias of a project's objects, sorted. */
export const aliasesOf = (reader: ClickHouseReader) => async (projectId: string, position: Position) => {
  const rows = await reader.query<{ alias: string }>(
    `SELECT DISTINCT alias FROM (${standingAliases()}) ORDER BY alias`,
    asOf(projectId, position),
  )
  return rows.map(({ alias }) => alias)
}
