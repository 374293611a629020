import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { BlobTooLarge, type BlobStore } from '../../domain/ports/blobs.js'
import { Failure, invalid, invalidField } from '../failure.js'

export interface Upload {
  readonly fields: ReadonlyMap<string, string>
  /** The file's content, already durable in the blob store. */
  readonly file: { readonly digest: string; readonly size: number } | undefined
}

const MAX_FILE_BYTES = 104_857_600

/**
 * Reads a multipart form with at most one file and streams the file to the blob store, if `mayStore` accepts the fields
 * before it.
 */
export const readUpload = async (
  blobs: BlobStore,
  headers: IncomingHttpHeaders,
  body: Readable,
  mayStore: (fields: ReadonlyMap<string, string>) => boolean,
): Promise<Upload> => {
  const parser = parserOf(headers)
  const fields = new Map<string, string>()
  let files = 0
  let storing: Promise<Upload['file']> | undefined
  parser.on('field', (name: string, value: string) => fields.set(name, value))
  parser.on('file', (name: string, file: Readable) => {
    if (name === 'file') files += 1
    // An incomplete form emits an error on the file, even if nothing reads it yet.
    file.on('error', () => undefined)
    if (name !== 'file' || files > 1 || !mayStore(fields)) file.resume()
    else storing = store(blobs, file)
    storing?.catch(() => file.resume())
  })
  await parsed(parser, body)
  const file = await storing
  if (files > 1)
    throw invalidField(['file'], 'value_error', 'Value error, only one file is allowed per request')
  return { fields, file }
}

const parsed = (parser: busboy.Busboy, body: Readable): Promise<void> =>
  new Promise((resolve, reject) => {
    const broken = () => {
      body.unpipe(parser)
      body.resume()
      // Destroying the parser also ends the file stream that is being stored.
      parser.destroy(new Error('the form is incomplete'))
      reject(malformed())
    }
    parser.on('close', resolve)
    parser.on('error', broken)
    body.on('error', broken)
    body.on('aborted', broken)
    body.pipe(parser)
  })

const store = async (blobs: BlobStore, file: Readable): Promise<Upload['file']> => {
  try {
    // The parser hangs if a file stream is destroyed before its end.
    return await blobs.putStream(file.iterator({ destroyOnReturn: false }), MAX_FILE_BYTES)
  } catch (error) {
    if (error instanceof BlobTooLarge)
      throw new Failure('too-large', `The file exceeds the limit of ${MAX_FILE_BYTES} bytes.`)
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
