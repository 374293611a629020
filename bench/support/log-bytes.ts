import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** What the event log and its blobs take of a data directory. */
export const logBytesIn = async (directory: string): Promise<number> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  let bytes = 0
  for (const entry of entries) {
    const isOfLog = entry.parentPath === directory && entry.name.startsWith('events.')
    const isBlob = entry.parentPath.startsWith(join(directory, 'blobs'))
    if (entry.isFile() && (isOfLog || isBlob)) bytes += (await stat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}
