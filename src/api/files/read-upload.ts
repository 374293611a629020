import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { BlobTooLarge, type BlobStore } from '../../domain/ports/blobs.js'
import { Failure, invalid } from '../failure.js'

export interface Upload {
  readonly fields: ReadonlyMap<string, string>
  /** The file's content in the blob store, already durable. */
  readonly file: { readonly digest: string; readonly size: number } | undefined
}

/** The largest file, in bytes. */
export const MAX_FILE_BYTES = 104_857_600

/** Reads a multipart form with at most one file, which goes to the blob store as it comes. */
export const readUpload = async (
  blobs: BlobStore,
  headers: IncomingHttpHeaders,
  body: Readable,
): Promise<Upload> => {
  const parser = parserOf(headers)
  const fields = new Map<string, string>()
  let storing: Promise<Upload['file']> | undefined
  parser.on('field', (name: string, value: string) => fields.set(name, value))
  parser.on('file', (name: string, file: Readable) => {
    if (name !== 'file' || storing !== undefined) file.resume()
    else storing = store(blobs, file)
    storing?.catch(() => file.resume())
  })
  await new Promise<void>((resolve, reject) => {
    parser.on('close', resolve)
    parser.on('error', () => reject(malformed()))
    body.on('error', () => reject(malformed()))
    body.on('aborted', () => reject(malformed()))
    body.pipe(parser)
  })
  return { fields, file: await storing }
}

const store = async (blobs: BlobStore, file: Readable): Promise<Upload['file']> => {
  try {
    return await blobs.putStream(file, MAX_FILE_BYTES)
  } catch (error) {
    if (error instanceof BlobTooLarge)
      throw new Failure('too-large', `The file is over the limit of ${MAX_FILE_BYTES} bytes.`)
    throw error
  }
}

const parserOf = (headers: IncomingHttpHeaders) => {
  try {
    return busboy({ headers, limits: { fields: 20, fieldSize: 64 * 1024, files: 5, parts: 30 } })
  } catch {
    throw malformed()
  }
}

const malformed = () =>
  invalid([
    {
      loc: ['body'],
      type: 'multipart_invalid',
      msg: 'Input should be a multipart form with the parts project_id and file',
    },
  ])
