import type { RunPlace } from '../../application/runs/history.js'
import type { RunFileStored } from '../../domain/runs/events.js'
import { connectionOf, type Caller, type PageOf } from './caller.js'
import { idOf } from './ids.js'

export interface RunFilesAsked extends PageOf {
  readonly names?: readonly (string | null)[] | null
  readonly pattern?: string | null
}

/** The files of a run, by path. */
export const filesOfRun = (
  caller: Caller,
  place: RunPlace,
  files: readonly RunFileStored[],
  { names, pattern, ...page }: RunFilesAsked,
) => {
  const named = new Set(names)
  const found = files
    .filter(({ path }) => (named.size === 0 || named.has(path)) && (pattern == null || isLike(path, pattern)))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  return connectionOf(
    caller,
    found,
    page,
    ({ path }) => path,
    (file) => fileOf(caller, place, file),
  )
}

/** Whether a text is like a pattern in which `%` is any text, as in SQL. */
const isLike = (text: string, pattern: string): boolean => {
  const [first = '', ...others] = pattern.split('%')
  const last = others.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of others) {
    const place = text.indexOf(part, at)
    if (place < 0) return false
    at = place + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

const fileOf = (caller: Caller, place: RunPlace, { path, blob, md5, size, stored_at }: RunFileStored) => {
  const directUrl = caller.links.read(place.project, blob, path)
  return {
    id: idOf('File', place.project, place.run, path),
    name: path,
    displayName: path,
    url: directUrl,
    directUrl,
    uploadHeaders: [],
    sizeBytes: size,
    updatedAt: stored_at,
    md5: Buffer.from(md5, 'hex').toString('base64'),
    digest: md5,
  }
}
