import { versionName, type VersionName } from '../../domain/object/version-name.js'
import type { ClickHouseReader, SqlParameter } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { asOf, lastFacts, standingAliases, standingTags } from './standing.js'
import { columns, storedVersion, type StoredVersion, type VersionRow } from './stored-version.js'

export interface VersionQuestion {
  readonly projectId: string
  readonly objectId: string
  /** A digest, `latest`, `v` with a number, or an alias. */
  readonly version: string
  readonly position: Position
  readonly withVal: boolean
  readonly withLabels: boolean
}

const OF_OBJECT = 'object_id = {object:String}'

/**
 * One version as it stood at a position, with one statement: a deleted one too, and undefined where there never was
 * one. Where all are deleted, the latest is the one with the highest number.
 */
export const readVersion =
  (reader: ClickHouseReader) =>
  async (question: VersionQuestion): Promise<StoredVersion | undefined> => {
    const { projectId, objectId, version, position, withVal, withLabels } = question
    const { sql, parameters } = named(versionName(version))
    const [row] = await reader.query<VersionRow & Labels>(
      `WITH (
        SELECT (max(position), max(version_index), max(is_latest)) FROM (
          SELECT position, version_index, digest,
            row_number() OVER (ORDER BY deleted_at IS NULL DESC, version_index DESC) = 1 AS is_latest
          FROM (${lastFacts(OF_OBJECT)})
        ) WHERE ${sql}
      ) AS wanted
      SELECT ${columns(withVal)}, wanted.3 AS is_latest, ${withLabels ? LABELS : NO_LABELS}
      FROM object_versions
      WHERE project_id = {project:String} AND ${OF_OBJECT} AND version_index = wanted.2 AND position = wanted.1
      LIMIT 1`,
      { ...asOf(projectId, position), object: objectId, ...parameters },
    )
    if (row === undefined) return undefined
    const { is_latest, tags, aliases, ...rest } = row
    return storedVersion(rest, { is_latest: is_latest === 1, tags, aliases })
  }

interface Labels {
  readonly is_latest: 0 | 1
  readonly tags: readonly string[]
  readonly aliases: readonly string[]
}

const OF_WANTED = 'version_index = wanted.2'

const LABELS = `
  (SELECT arraySort(groupArray(tag)) FROM (${standingTags(`${OF_OBJECT} AND ${OF_WANTED}`)})) AS tags,
  (SELECT arraySort(groupArray(alias)) FROM (${standingAliases(OF_OBJECT)}) WHERE ${OF_WANTED}) AS aliases`

const NO_LABELS = "CAST([], 'Array(String)') AS tags, CAST([], 'Array(String)') AS aliases"

interface Named {
  readonly sql: string
  readonly parameters: Readonly<Record<string, SqlParameter>>
}

const named = (name: VersionName): Named => {
  switch (name.by) {
    case 'latest':
      return { sql: 'is_latest', parameters: {} }
    case 'index':
      return { sql: 'version_index = {index:UInt64}', parameters: { index: name.index } }
    case 'digest':
      return { sql: 'digest = {digest:String}', parameters: { digest: name.digest } }
    case 'alias': {
      const target = standingAliases(`${OF_OBJECT} AND alias = {alias:String}`)
      return {
        sql: `version_index IN (SELECT version_index FROM (${target}))`,
        parameters: { alias: name.alias },
      }
    }
  }
}
