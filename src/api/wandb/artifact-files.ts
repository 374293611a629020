import type { Manifest } from '../../domain/artifacts/events.js'
import { hexOfMd5, type ManifestEntry } from '../../domain/artifacts/manifest.js'
import { readManifest, storedByMd5 } from '../../application/artifacts/uploads.js'
import { connectionOf, type Caller, type PageOf } from './caller.js'
import { idOf } from './ids.js'

export interface FilesAsked extends PageOf {
  readonly names?: readonly string[] | null
}

const MANIFEST_NAME = 'wandb_manifest.json'

export const manifestOf = (caller: Caller, project: string, artifact: string, { blob, md5 }: Manifest) => ({
  id: idOf('Manifest', project, artifact),
  digest: Buffer.from(md5, 'hex').toString('base64'),
  file: {
    id: idOf('File', project, artifact, MANIFEST_NAME),
    name: MANIFEST_NAME,
    directUrl: caller.links.read(project, blob, MANIFEST_NAME),
    uploadHeaders: [],
  },
})

/** The files of a version, with links; a reference has its own address. */
export const artifactFiles = async (
  caller: Caller,
  project: string,
  manifest: Manifest | null | undefined,
  { names, ...page }: FilesAsked,
) => {
  const all = manifest == null ? [] : ((await readManifest(caller.services, manifest.blob)) ?? [])
  const named = names == null ? undefined : new Set(names)
  const files = named === undefined ? all : all.filter(({ path }) => named.has(path))
  const connection = connectionOf(
    caller,
    files,
    page,
    ({ path }) => path,
    (file) => file,
  )
  const edges = await Promise.all(
    connection.edges.map(async ({ node, cursor }) => ({ cursor, node: await fileOf(caller, project, node) })),
  )
  return { ...connection, edges }
}

const fileOf = async (caller: Caller, project: string, { path, digest, size, reference }: ManifestEntry) => {
  const file = {
    id: idOf('File', project, path, digest),
    name: path,
    displayName: path,
    uploadHeaders: [],
    sizeBytes: size,
    digest,
    md5: digest,
  }
  if (reference !== null) return { ...file, url: reference, directUrl: reference }
  const stored = await storedByMd5(caller.services, project, hexOfMd5(digest) ?? '')
  const directUrl = stored === undefined ? '' : caller.links.read(project, stored.blob, path)
  return { ...file, url: directUrl, directUrl }
}
