import { buffer } from 'node:stream/consumers'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { retry } from '../../kernel/backoff.js'
import type { BlobRange } from '../../kernel/ports/blobs.js'
import { digestOf } from '../../kernel/content-digest.js'
import { BucketUnavailable, type Bucket, type BucketEntry } from '../../kernel/ports/bucket.js'
import type { BucketAddress } from '../../kernel/ports/objects-url.js'
import { isSlowDown, statusOf, unavailable } from './failures.js'
import { pacing } from './pace.js'
import { directOf } from './s3-direct.js'
import {
  ANSWER_MS,
  signedAs,
  undefinedWhenMissing,
  uploadMs,
  uploadsOf,
  type AskOptions,
  type Sending,
} from './s3-uploads.js'

const CONNECT_MS = 5000
/** For the next chunk of a response. */
const IDLE_MS = 30_000
const TRIES = 3
const PAUSES = { firstMs: 50, maxMs: 200 }
/** Streams of responses hold a socket each. */
const MOST_SOCKETS = 256

/** A bucket of AWS or of another store. */
export const openS3Bucket = (address: BucketAddress): Bucket => {
  const { bucket: Bucket, prefix, region, endpoint, pathStyle, publicEndpoint } = address
  const sockets = { maxSockets: MOST_SOCKETS, keepAlive: true }
  const settings = {
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: pathStyle,
    maxAttempts: TRIES,
    // Checksums of the client's own choice are refused by several stores.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, httpAgent: sockets, httpsAgent: sockets },
  } as const
  const client = new S3Client(settings)
  const publicClient = publicEndpoint && new S3Client({ ...settings, endpoint: publicEndpoint })
  const paced = pacing(isSlowDown)

  /** Sends a command; the time limit holds until the head of the response. */
  const asked = async <A>(
    action: string,
    work: (sending: Sending) => Promise<A>,
    { team, limitMs = ANSWER_MS }: AskOptions = {},
  ): Promise<A> => {
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(), limitMs)
    const late = new Promise<never>((_, reject) =>
      ending.signal.addEventListener('abort', () =>
        reject(Object.assign(new Error(), { name: 'TimeoutError' })),
      ),
    )
    const send = ((command: PutObjectCommand) => {
      // Within the client's repeats, each of which counts.
      command.middlewareStack.add((next) => (args) => paced(team, () => next(args)), {
        step: 'finalizeRequest',
        priority: 'low',
      })
      return client.send(command, { abortSignal: ending.signal })
    }) as S3Client['send']
    try {
      return await Promise.race([work({ send }), late])
    } catch (error) {
      throw unavailable(address, action, error)
    } finally {
      clearTimeout(timer)
    }
  }

  const named = (key: string) => ({ Bucket, Key: prefix + key })
  const base64 = (digest: string) => Buffer.from(digest, 'hex').toString('base64')
  /** The store refuses content that was changed on the way. Of stores other than AWS, not all know checksums. */
  const checksum = async (content: Uint8Array, sha256: string) =>
    endpoint === undefined
      ? { ChecksumSHA256: base64(sha256) }
      : { ContentMD5: base64(await digestOf(content, 'md5')) }

  const put = async (key: string, content: Uint8Array, sha256: string, condition = {}) => {
    const command = new PutObjectCommand({
      ...named(key),
      Body: content,
      ...(await checksum(content, sha256)),
      ...condition,
    })
    return signedAs(command, sha256)
  }

  const get = (key: string) =>
    asked('s3:GetObject', ({ send }) =>
      // Unlike the client's repeats, these also cover a body that is cut.
      retry(
        async () => {
          const { Body } = (await send(new GetObjectCommand(named(key))).catch(undefinedWhenMissing)) ?? {}
          return Body === undefined ? undefined : buffer(idling(Body as AsyncIterable<Uint8Array>))
        },
        (error, tries) => (error as NodeJS.ErrnoException).code === 'ECONNRESET' && tries < TRIES,
        PAUSES,
      ),
    )

  const create: Bucket['create'] = (key, content) =>
    asked('s3:PutObject with If-None-Match', async ({ send }) => {
      const sha256 = await digestOf(content)
      const again = (error: unknown, tries: number) => statusOf(error) === 409 && tries < TRIES
      try {
        await retry(async () => send(await put(key, content, sha256, { IfNoneMatch: '*' })), again, PAUSES)
        return true
      } catch (error) {
        if (statusOf(error) !== 412) throw error
        // A repeat meets what an earlier attempt stored, whose answer was lost.
        return Buffer.from(content).equals((await get(key)) ?? Buffer.alloc(0))
      }
    })

  const replace: Bucket['replace'] = (key, change) =>
    asked('s3:PutObject with If-Match', async ({ send }) => {
      const found = await send(new GetObjectCommand(named(key))).catch(undefinedWhenMissing)
      const content = found && (await change(await buffer(idling(found.Body as AsyncIterable<Uint8Array>))))
      if (content === undefined) return false
      const IfMatch = found?.ETag
      try {
        await send(await put(key, content, await digestOf(content), { IfMatch }))
        return true
      } catch (error) {
        if (statusOf(error) !== 412 && statusOf(error) !== 404) throw error
        return false
      }
    })

  const { upload, copy } = uploadsOf({ address, asked, named, checksum })
  const read = async function* (key: string, range?: BlobRange): AsyncGenerator<Uint8Array> {
    if (range !== undefined && range.start >= range.end) return
    const Range = range && `bytes=${range.start}-${range.end - 1}`
    const response = await asked('s3:GetObject', ({ send }) =>
      send(new GetObjectCommand({ ...named(key), Range })).catch((error: unknown) => {
        if (statusOf(error) !== 416) throw error
      }),
    )
    if (response === undefined) return
    try {
      yield* idling(response.Body as AsyncIterable<Uint8Array>)
    } catch (error) {
      throw unavailable(address, 's3:GetObject', error)
    }
  }

  const list = async function* (start: string, after?: string): AsyncGenerator<BucketEntry> {
    let ContinuationToken: string | undefined
    do {
      const page = await asked('s3:ListBucket', ({ send }) =>
        send(
          new ListObjectsV2Command({
            Bucket,
            Prefix: prefix + start,
            ...(after === undefined ? {} : { StartAfter: prefix + after }),
            ContinuationToken,
          }),
        ),
      )
      for (const { Key = '', Size = 0, LastModified = new Date(0) } of page.Contents ?? [])
        yield { key: Key.slice(prefix.length), size: Size, modified: LastModified }
      ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined
    } while (ContinuationToken !== undefined)
  }

  return {
    put: async (key, content, sha256, team) => {
      const command = await put(key, content, sha256)
      await asked('s3:PutObject', ({ send }) => send(command), { team, limitMs: uploadMs(content.length) })
    },
    create,
    replace,
    upload,
    copy,
    get,
    size: (key) =>
      asked('s3:GetObject (HeadObject)', async ({ send }) => {
        const found = await send(new HeadObjectCommand(named(key))).catch(undefinedWhenMissing)
        return found && (found.ContentLength ?? 0)
      }),
    read,
    list,
    delete: async (key) => {
      const { DeleteMarker } = await asked('s3:DeleteObject', ({ send }) =>
        send(new DeleteObjectCommand(named(key))),
      )
      if (DeleteMarker !== true) return
      await asked('s3:DeleteObjectVersion', async ({ send }) => {
        const found = await send(new ListObjectVersionsCommand({ Bucket, Prefix: prefix + key }))
        for (const { Key, VersionId } of [...(found.Versions ?? []), ...(found.DeleteMarkers ?? [])])
          if (Key === prefix + key) await send(new DeleteObjectCommand({ Bucket, Key, VersionId }))
      })
    },
    direct: publicClient ? directOf({ address, asked, named }, publicClient) : undefined,
    comparesMd5: (key) =>
      asked('s3:PutObject', async ({ send }) => {
        const content = { Body: 'content', ContentMD5: Buffer.alloc(16).toString('base64') }
        const taken = send(new PutObjectCommand({ ...named(key), ...content })).then(() => true)
        return !(await taken.catch((error: unknown) => {
          if (statusOf(error) !== 400) throw error
        }))
      }),
    close: () => client.destroy(),
  }
}

/** Chunks of a response. It is given up where none comes, but not while the reader takes its time. */
async function* idling(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const timer = setTimeout(
        () => (body as { destroy?: (error: Error) => void }).destroy?.(new BucketUnavailable('no data')),
        IDLE_MS,
      )
      const next = await chunks.next().finally(() => clearTimeout(timer))
      if (next.done === true) return
      yield next.value
    }
  } finally {
    ;(body as { destroy?: () => void }).destroy?.()
  }
}
