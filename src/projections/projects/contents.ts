import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { storedBytes } from '../storage.js'

/** What a project has, with what was deleted in it. */
export interface ProjectContents {
  readonly calls: number
  readonly feedback: number
  readonly object_versions: number
  readonly tables: number
  readonly files: number
  readonly artifact_versions: number
  readonly runs: number
  readonly annotation_queues: number
  /** Of the payload of calls, objects, tables and files, without what was deleted. */
  readonly bytes: number
}

const COUNTS: Readonly<Record<keyof Omit<ProjectContents, 'bytes'>, readonly [table: string, id: string]>> = {
  calls: ['calls', 'id'],
  feedback: ['feedback', 'id'],
  object_versions: ['object_versions', '(object_id, version_index)'],
  tables: ['tables', 'digest'],
  files: ['files', 'digest'],
  artifact_versions: ['artifact_versions', '(collection, version)'],
  runs: ['run_changes', 'run_id'],
  annotation_queues: ['annotation_queues', 'id'],
}

export const contentsOf = async (
  reader: ClickHouseReader,
  project: string,
  position: Position,
): Promise<ProjectContents> => {
  const counts = Object.entries(COUNTS).map(
    ([name, [table, id]]) =>
      `(SELECT toFloat64(uniqExact(${id})) FROM ${table} WHERE project_id = {project:String}) AS ${name}`,
  )
  const stored = storedBytes(reader)
  const [[found], ...sizes] = await Promise.all([
    reader.query<Omit<ProjectContents, 'bytes'>>(`SELECT ${counts.join(', ')}`, { project }),
    ...Object.values(stored).map((bytesOf) => bytesOf(project, position)),
  ])
  return { ...found!, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) }
}
