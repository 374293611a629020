import { storedByMd5 } from '../../application/artifacts/uploads.js'
import { Failure } from '../../application/failure.js'
import { directBlob } from '../../kernel/ports/blobs.js'
import type { Caller } from './caller.js'

export interface UploadPartInput {
  readonly partNumber: number
  /** When an upload is completed, what the store answered. */
  readonly hexMD5: string
}

const MOST_PARTS = 10_000
const NOWHERE = { uploadUrl: null, uploadHeaders: [], uploadMultipartUrls: null }

const MD5_HEX = /^[0-9a-f]{32}$/

/** Where a client stores content that the project does not have: in the bucket itself, if clients reach it. */
export const uploadOf = async (
  { services, links }: Caller,
  project: string,
  md5: string,
  given: readonly UploadPartInput[],
) => {
  const { blobs, sha256 } = services
  if ((await storedByMd5(services, project, md5)) !== undefined) return NOWHERE
  if (blobs.direct === undefined) return { ...NOWHERE, uploadUrl: links.store(project, md5) }
  const blob = directBlob(project, md5, sha256)
  if (given.length === 0) {
    const header = `Content-MD5:${Buffer.from(md5, 'hex').toString('base64')}`
    return { ...NOWHERE, uploadUrl: await blobs.direct.put(blob), uploadHeaders: [header] }
  }
  if (given.length > MOST_PARTS || !given.every(({ hexMD5 }) => MD5_HEX.test(hexMD5)))
    throw new Failure(
      'bad-request',
      `input.uploadPartsInput should have at most ${MOST_PARTS} parts, each with its MD5 in hexadecimal.`,
    )
  const parts = given.map(({ partNumber, hexMD5 }) => ({ number: partNumber, md5: hexMD5 }))
  const { upload, urls } = await blobs.direct.putParts(blob, parts)
  const uploadUrlParts = urls.map(({ number, url }) => ({ partNumber: number, uploadUrl: url }))
  return { ...NOWHERE, uploadUrl: urls[0]!.url, uploadMultipartUrls: { uploadID: upload, uploadUrlParts } }
}

export interface CompleteUploadInput {
  readonly artifactID: string
  /** The MD5 in hexadecimal. */
  readonly storagePath: string
  readonly uploadID: string
  readonly completedParts: readonly UploadPartInput[]
}

export const completeDirectUpload = async (
  { services: { blobs, sha256 } }: Caller,
  project: string,
  { storagePath: md5, uploadID, completedParts }: CompleteUploadInput,
) => {
  if (blobs.direct === undefined || !MD5_HEX.test(md5)) throw new Failure('not-found', 'Upload not found.')
  const blob = directBlob(project, md5, sha256)
  const parts = completedParts.map(({ partNumber, hexMD5 }) => ({ number: partNumber, etag: hexMD5 }))
  await blobs.direct.complete(blob, uploadID, parts)
  if ((await blobs.direct.size(blob)) === undefined)
    throw new Failure('conflict', 'The upload cannot be completed: the bucket does not have all its parts.')
  return { digest: md5 }
}
