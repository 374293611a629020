import { isJsonObject, type Json } from '../../kernel/json/json.js'

/** A file of a manifest. */
export interface ManifestEntry {
  readonly path: string
  /** As the client writes it: the MD5 in base64, or anything for a reference. */
  readonly digest: string
  readonly size: number
  /** The address of content that is elsewhere; null for content that was uploaded. */
  readonly reference: string | null
}

/** The files in the JSON document that the package `wandb` writes; undefined if it is none. */
export const entriesOf = (document: Json): readonly ManifestEntry[] | undefined => {
  const contents = isJsonObject(document) ? document['contents'] : undefined
  if (!isJsonObject(contents)) return undefined
  const entries: ManifestEntry[] = []
  for (const [path, entry] of Object.entries(contents)) {
    if (!isJsonObject(entry) || typeof entry['digest'] !== 'string') return undefined
    const { digest, size, ref } = entry
    if (ref !== undefined && typeof ref !== 'string') return undefined
    entries.push({ path, digest, size: isSize(size) ? size : 0, reference: ref ?? null })
  }
  return entries
}

const isSize = (size: Json | undefined): size is number => Number.isSafeInteger(size) && Number(size) >= 0

const MD5_BASE64 = /^[A-Za-z0-9+/]{22}==$/

/** The hexadecimal form of an MD5 in base64; undefined if it is none. */
export const hexOfMd5 = (base64: string): string | undefined =>
  MD5_BASE64.test(base64) ? Buffer.from(base64, 'base64').toString('hex') : undefined
