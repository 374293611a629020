import { versionName } from '../../domain/object/version-name.js'
import { inPages } from '../../domain/pages.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { asOf, standingVersions } from './standing.js'

export interface WantedObject {
  readonly objectId: string
  /** A digest, `latest` or `v` with a number. */
  readonly digest: string
}

interface Standing {
  readonly object_id: string
  readonly version_index: number
  readonly digest: string
  readonly is_latest: 0 | 1
  readonly published: string
  readonly bytes: number
}

/** So much is read with one statement. */
const PAGE = { items: 1000, bytes: 16 * 1024 * 1024 }

/**
 * The contents of versions as they stood at a position, as JSON text in the order in which they are wanted; undefined
 * for one that is not there or deleted, or that an alias names.
 */
export const objectValues =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    wanted: readonly WantedObject[],
    position: Position,
  ): Promise<readonly (string | undefined)[]> => {
    const standing = await standingAmong(reader)(projectId, wanted, position)
    const places = new Map<string, Standing>()
    for (const version of standing) for (const key of keysOf(version)) places.set(key, version)
    const found = wanted.map(({ objectId, digest }) => places.get(keyOf(objectId, digest)))
    const values = new Map<string, string>()
    for (const page of inPages(distinct(found), ({ bytes }) => bytes, PAGE))
      for (const { place, val } of await valuesAt(reader)(projectId, page)) values.set(place, val)
    return found.map((place) => (place === undefined ? undefined : values.get(place.published)))
  }

const standingAmong =
  (reader: ClickHouseReader) =>
  async (projectId: string, wanted: readonly WantedObject[], position: Position) => {
    const digests: string[] = []
    const indexes = new Set<number>()
    for (const { digest } of wanted) {
      const name = versionName(digest)
      if (name.by === 'digest') digests.push(digest)
      if (name.by === 'index') indexes.add(name.index)
    }
    if (wanted.length === 0) return []
    return reader.query<Standing>(
      `SELECT object_id, version_index, digest, is_latest, toString(position) AS published, val_bytes AS bytes
      FROM (${standingVersions('object_id IN {objects:Array(String)}')})
      WHERE is_latest OR digest IN {digests:Array(String)} OR version_index IN {indexes:Array(UInt64)}`,
      {
        ...asOf(projectId, position),
        objects: [...new Set(wanted.map(({ objectId }) => objectId))],
        digests: [...new Set(digests)],
        indexes: [...indexes],
      },
    )
  }

const distinct = (places: readonly (Standing | undefined)[]): readonly Standing[] =>
  [...new Set(places)].filter((place) => place !== undefined)

/** However a version is named, by the same name. */
const keyOf = (objectId: string, version: string): string => {
  const name = versionName(version)
  return `${objectId}:${name.by === 'index' ? `v${name.index}` : version}`
}

const keysOf = ({ object_id, version_index, digest, is_latest }: Standing): readonly string[] =>
  [digest, `v${version_index}`, ...(is_latest === 1 ? ['latest'] : [])].map((name) => keyOf(object_id, name))

const valuesAt = (reader: ClickHouseReader) => (projectId: string, places: readonly Standing[]) =>
  reader.query<{ readonly place: string; readonly val: string }>(
    `SELECT toString(position) AS place, val FROM object_versions
    WHERE project_id = {project:String} AND object_id IN {objects:Array(String)}
      AND position IN {positions:Array(UInt64)}`,
    {
      project: projectId,
      objects: [...new Set(places.map(({ object_id }) => object_id))],
      positions: places.map(({ published }) => BigInt(published)),
    },
  )
