import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type CompletedPart,
  type PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { digestOf } from '../../kernel/content-digest.js'
import { BucketUnavailable, type Bucket } from '../../kernel/ports/bucket.js'
import type { BucketAddress } from '../../kernel/ports/objects-url.js'
import type { Team } from '../../kernel/team-slots.js'

/** For the head of a response, with all repeats. */
export const ANSWER_MS = 30_000
/** Slower uploads are given up. */
const LEAST_BYTES_PER_MS = 256
export const uploadMs = (bytes: number) => ANSWER_MS + bytes / LEAST_BYTES_PER_MS
/** The store reads and writes the object meanwhile. */
export const COPY_MS = 300_000
const PARTS_AT_ONCE = 4
/** Larger objects are copied in parts. */
const LARGEST_COPY = 5 * 1024 ** 3
const COPIED_PART = 1024 ** 3

export type Sending = { readonly send: S3Client['send'] }

export interface AskOptions {
  readonly team?: Team
  readonly limitMs?: number
}

/** What uploads need of an opened bucket. */
export interface OpenedBucket {
  readonly address: BucketAddress
  readonly asked: <A>(
    action: string,
    work: (sending: Sending) => Promise<A>,
    options?: AskOptions,
  ) => Promise<A>
  readonly named: (key: string) => { readonly Bucket: string; readonly Key: string }
  readonly checksum: (content: Uint8Array, sha256: string) => Promise<object>
}

/** Objects that are made of parts, and copies. */
export const uploadsOf = ({
  address,
  asked,
  named,
  checksum,
}: OpenedBucket): Pick<Bucket, 'upload' | 'copy'> => {
  const algorithm = address.endpoint === undefined ? ({ ChecksumAlgorithm: 'SHA256' } as const) : {}

  /** Sends parts in order, at most four at a time, and makes one object of them. */
  const inParts = async (
    key: string,
    team: Team,
    sends: AsyncIterable<(number: number, UploadId: string) => Promise<CompletedPart>>,
  ) => {
    const { UploadId = '' } = await asked(
      's3:PutObject (CreateMultipartUpload)',
      ({ send }) => send(new CreateMultipartUploadCommand({ ...named(key), ...algorithm })),
      { team },
    )
    const parts: Promise<CompletedPart>[] = []
    try {
      for await (const sendPart of sends) {
        await parts.at(-PARTS_AT_ONCE)
        const part = sendPart(parts.length + 1, UploadId)
        part.catch(() => undefined)
        parts.push(part)
      }
      const MultipartUpload = { Parts: await Promise.all(parts) }
      await asked(
        's3:PutObject (CompleteMultipartUpload)',
        ({ send }) => send(new CompleteMultipartUploadCommand({ ...named(key), UploadId, MultipartUpload })),
        { team, limitMs: COPY_MS },
      )
    } catch (error) {
      await Promise.allSettled(parts)
      const aborting = asked('s3:AbortMultipartUpload', ({ send }) =>
        send(new AbortMultipartUploadCommand({ ...named(key), UploadId })),
      )
      await (error instanceof BucketUnavailable ? aborting.catch(() => undefined) : aborting)
      throw error
    }
  }

  const upload: Bucket['upload'] = (key, source, team) =>
    inParts(
      key,
      team,
      mapped(source, (content) => async (PartNumber, UploadId) => {
        const sha256 = await digestOf(content)
        const command = new UploadPartCommand({
          ...named(key),
          UploadId,
          PartNumber,
          Body: content,
          ...(await checksum(content, sha256)),
        })
        const { ETag, ChecksumSHA256 } = await asked(
          's3:PutObject (UploadPart)',
          ({ send }) => send(signedAs(command, sha256)),
          { team, limitMs: uploadMs(content.length) },
        )
        return { PartNumber, ETag, ChecksumSHA256 }
      }),
    )

  const copy: Bucket['copy'] = async (from, to, size, team) => {
    const CopySource = [address.bucket, ...named(from).Key.split('/')].map(encodeURIComponent).join('/')
    if (size <= LARGEST_COPY) {
      const command = new CopyObjectCommand({ ...named(to), CopySource, ...algorithm })
      await asked('s3:PutObject (CopyObject)', ({ send }) => send(command), { team, limitMs: COPY_MS })
      return
    }
    const ranges = (async function* () {
      for (let at = 0; at < size; at += COPIED_PART)
        yield `bytes=${at}-${Math.min(size, at + COPIED_PART) - 1}`
    })()
    await inParts(
      to,
      team,
      mapped(ranges, (CopySourceRange) => async (PartNumber, UploadId) => {
        const part = { ...named(to), UploadId, PartNumber, CopySource, CopySourceRange }
        const { CopyPartResult } = await asked(
          's3:PutObject (UploadPartCopy)',
          ({ send }) => send(new UploadPartCopyCommand(part)),
          { team, limitMs: COPY_MS },
        )
        return { PartNumber, ETag: CopyPartResult?.ETag, ChecksumSHA256: CopyPartResult?.ChecksumSHA256 }
      }),
    )
  }

  return { upload, copy }
}

export const undefinedWhenMissing = (error: unknown): undefined => {
  const { name } = error as Error
  if (name !== 'NoSuchKey' && name !== 'NotFound') throw error
}

/** The signature names the digest, which the client then need not compute. */
export const signedAs = <C extends PutObjectCommand | UploadPartCommand>(command: C, sha256: string): C => {
  ;(command as PutObjectCommand).middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { readonly headers: Record<string, string> }
      headers['x-amz-content-sha256'] = sha256
      return next(args)
    },
    { step: 'build', name: 'digest' },
  )
  return command
}

async function* mapped<A, B>(items: AsyncIterable<A>, map: (item: A) => B): AsyncGenerator<B> {
  for await (const item of items) yield map(item)
}
