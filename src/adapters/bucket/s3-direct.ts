import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  type HeadObjectCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { inChunks } from '../../kernel/in-chunks.js'
import { md5In, type DirectBlobs } from '../../kernel/ports/blobs.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { statusOf, unavailable } from './failures.js'
import { COPY_MS, undefinedWhenMissing, type OpenedBucket } from './s3-uploads.js'

const LIFE_SECONDS = 15 * 60

interface HttpRequest {
  headers: Record<string, string>
  readonly protocol: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

interface Presigner {
  readonly presign: (request: HttpRequest, options: { readonly expiresIn: number }) => Promise<HttpRequest>
}

/** Signs requests of clients with a client of its own, for the address of the store that they reach. */
export const directOf = (
  { address, asked, named }: Pick<OpenedBucket, 'address' | 'asked' | 'named'>,
  client: S3Client,
): ((start: string) => DirectBlobs) => {
  const presigned = async (request: HttpRequest): Promise<string> => {
    const { host = '', 'content-md5': md5 } = request.headers
    // The other headers are those of this process.
    request.headers = {
      host,
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      ...(md5 === undefined ? {} : { 'content-md5': md5 }),
    }
    const signer = (await client.config.signer()) as unknown as Presigner
    const { protocol, path, query } = await signer.presign(request, { expiresIn: LIFE_SECONDS })
    const options = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('='))
    return `${protocol}//${host}${path}?${options.join('&')}`
  }

  // Its requests are signed and not sent.
  client.middlewareStack.add(
    () => async (args) => {
      const output = { $metadata: {}, url: await presigned(args.request as HttpRequest) }
      return { output, response: undefined }
    },
    { step: 'finalizeRequest', priority: 'high', name: 'presign' },
  )

  const pause = yielding()
  /** Takes a millisecond, and a client asks for thousands at once. */
  const signed = async (send: () => Promise<object>): Promise<string> => {
    await pause()
    try {
      return ((await send()) as { readonly url: string }).url
    } catch (error) {
      throw unavailable(address, 'signing an address', error)
    }
  }

  return (start) => ({
    put: (digest) =>
      signed(() =>
        client.send(
          new PutObjectCommand({ ...named(start + digest), ContentMD5: base64(md5In(digest) ?? '') }),
        ),
      ),
    putParts: async (digest, parts) => {
      const { UploadId = '' } = await asked('s3:PutObject (CreateMultipartUpload)', ({ send }) =>
        send(new CreateMultipartUploadCommand(named(start + digest))),
      )
      const urls = await inChunks(parts, 1, async ({ number, md5 }) => {
        const part = { ...named(start + digest), UploadId, PartNumber: number, ContentMD5: base64(md5) }
        return { number, url: await signed(() => client.send(new UploadPartCommand(part))) }
      })
      return { upload: UploadId, urls }
    },
    complete: (digest, UploadId, parts) =>
      asked(
        's3:PutObject (CompleteMultipartUpload)',
        async ({ send }) => {
          const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag }))
          const command = { ...named(start + digest), UploadId, MultipartUpload: { Parts } }
          await send(new CompleteMultipartUploadCommand(command)).catch((error: unknown) => {
            // Parts that are not there, or an upload that is complete already.
            if (statusOf(error) !== 400 && statusOf(error) !== 404) throw error
          })
        },
        { limitMs: COPY_MS },
      ),
    size: (digest) =>
      asked('s3:GetObject (HeadObject)', async ({ send }) => {
        const found = await send(new HeadObjectCommand(named(start + digest))).catch(undefinedWhenMissing)
        return found && hasMd5(found, md5In(digest) ?? '') ? (found.ContentLength ?? 0) : undefined
      }),
    get: (digest, name) =>
      signed(() =>
        client.send(
          new GetObjectCommand({
            ...named(start + digest),
            ResponseContentDisposition: `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
            ResponseContentType: 'application/octet-stream',
          }),
        ),
      ),
  })
}

const base64 = (md5: string) => Buffer.from(md5, 'hex').toString('base64')

/** The ETag is the MD5, except of objects that were made of parts, or are encrypted with a key of the operator's. */
const hasMd5 = (found: HeadObjectCommandOutput, md5: string) =>
  found.ETag?.includes(md5) === true ||
  /-\d+"?$/.test(found.ETag ?? '') ||
  found.ServerSideEncryption?.startsWith('aws:kms') === true
