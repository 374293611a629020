import { int64, position, table, text } from '../table.js'

/** The sizes of files; their contents are in the blob store. */
export const FILES = table('files', { project_id: text, digest: text, bytes: int64, position }, [
  'project_id',
  'digest',
])
