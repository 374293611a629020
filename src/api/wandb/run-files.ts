import type { RunPlace } from '../../application/runs/history.js'
import type { RunFileStored } from '../../domain/runs/events.js'
import { throwIfRefused } from '../../application/access/rights.js'
import { Failure } from '../../application/failure.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { entityOf as entityNameOf, projectNameOf } from '../../kernel/ids.js'
import { connectionOf, MAX_PAGE, projectToWrite, type Caller, type PageOf } from './caller.js'
import { idOf, partsOfId } from './ids.js'

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
  const connection = connectionOf(
    caller,
    found,
    page,
    ({ path }) => path,
    (file) => fileOf(caller, place, file),
  )
  const missing = [...named].filter((name) => name !== null && !files.some(({ path }) => path === name))
  return {
    ...connection,
    edges: [...connection.edges, ...missing.map((name) => absent(caller, place, name!))],
  }
}

/** Clients ask for a file by its name, and take one with this MD5 for missing. */
const absent = (caller: Caller, place: RunPlace, name: string) => {
  const url = caller.links.toNothing(place.project, place.run, name)
  const ofFile = { id: idOf('File', place.project, place.run, name), name, displayName: name }
  return { cursor: name, node: { ...ofFile, url, directUrl: url, uploadHeaders: [], sizeBytes: 0, md5: '0' } }
}

export const deleteFiles = async (caller: Caller, { files }: { readonly files: readonly string[] }) => {
  if (files.length > MAX_PAGE)
    throw new Failure('bad-request', `input.files should have at most ${MAX_PAGE} items.`)
  caller.budget.spend('items', files.length)
  for (const id of files) {
    const [project = '', run_id = '', path = ''] = partsOfId('File', id) ?? []
    const name = projectNameOf(project)
    const project_id = await projectToWrite(caller, { name, entityName: entityNameOf(project) })
    const now = instantOf(caller.services.clock.now())
    const written = await caller.runs.write(
      { type: 'DeleteRunFile', project_id, run_id, path, now },
      caller.cause,
    )
    throwIfRefused(written.refusals.get(0))
    caller.wrote(project_id, written.readableAt)
  }
  return { success: true }
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
