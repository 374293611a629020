import type { ArtifactEvent, RegisteredEvent } from '../../domain/artifacts/events.js'
import { projectOfPlace, type CollectionPlace } from '../../domain/artifacts/place.js'
import { dateTime64, int64 } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'
import type { Rows } from '../../kernel/ports/clickhouse.js'
import { instantOf } from '../../kernel/codec/instant.js'

type Positioned = (ArtifactEvent | RegisteredEvent) & Pick<ProjectedEvent, 'position' | 'recordedAt'>

export const ARTIFACT_VERSION_COLUMNS = [
  'project_id',
  'collection',
  'version',
  'artifact_id',
  'type',
  'run_id',
  'source_project',
  'made_at',
  'made_position',
  'ended_position',
] as const

const MAKER_COLUMNS = ['project_id', 'run_id', 'collection', 'version', 'position'] as const

type Row = Partial<Record<(typeof ARTIFACT_VERSION_COLUMNS)[number], string | null>>

export const artifactsProjection: Projection = {
  name: 'artifacts',
  rowsOf: (events) => {
    const rows: Row[] = []
    const makers: string[][] = []
    for (const event of events as readonly Positioned[]) {
      const row = rowOf(event)
      if (row !== undefined) rows.push(row)
      const { type, data, position } = event
      if (
        (type === 'VersionCreated' || type === 'VersionRepeated') &&
        data.run_id != null &&
        data.project_id !== null
      )
        makers.push([data.project_id, data.run_id, data.collection, int64(data.version), String(position)])
    }
    const values = rows.map((row) => ARTIFACT_VERSION_COLUMNS.map((column) => row[column] ?? null))
    const all: Rows[] = [
      { table: 'artifact_versions', columns: ARTIFACT_VERSION_COLUMNS, values },
      { table: 'artifact_makers', columns: MAKER_COLUMNS, values: makers },
    ]
    return all.filter((one) => one.values.length > 0)
  },
}

const rowOf = ({ type, data, position: at, recordedAt }: Positioned): Row | undefined => {
  const position = String(at)
  switch (type) {
    case 'VersionCreated':
      return {
        ...keyOf(data),
        artifact_id: data.artifact_id,
        type: data.type,
        run_id: data.run_id,
        source_project: data.project_id,
        made_at: dateTime64(data.created_at),
        made_position: position,
      }
    case 'VersionLinked':
      return {
        ...keyOf(data),
        artifact_id: data.source.artifact_id,
        type: data.type,
        source_project: data.source.project_id,
        made_at: recordedAt === undefined ? null : dateTime64(instantOf(recordedAt)),
        made_position: position,
      }
    case 'VersionDeleted':
    case 'VersionUnlinked':
      return { ...keyOf(data), ended_position: position }
    default:
      return undefined
  }
}

const keyOf = (data: CollectionPlace & { readonly version: number }): Row => ({
  project_id: projectOfPlace(data),
  collection: data.collection,
  version: int64(data.version),
})
