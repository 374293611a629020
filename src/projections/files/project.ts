import type { FileEvent } from '../../domain/files/file.js'
import { int64 } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'

type Positioned = FileEvent & Pick<ProjectedEvent, 'position'>

export const filesProjection: Projection = {
  name: 'files',
  rowsOf: (events) => {
    const values: unknown[][] = []
    for (const { type, data, position } of events as readonly Positioned[])
      if ((type as string) === 'FileStored')
        values.push([data.project_id, data.digest, int64(data.size), String(position)])
    return values.length === 0
      ? []
      : [{ table: 'files', columns: ['project_id', 'digest', 'bytes', 'position'], values }]
  },
}
