import { createHash, randomUUID } from 'node:crypto'
import { CHUNK_BYTES, digestOf } from '../../kernel/content-digest.js'
import { BlobsUnavailable, BlobTooLarge, type BlobStore } from '../../kernel/ports/blobs.js'
import { BucketUnavailable, type Bucket } from '../../kernel/ports/bucket.js'
import { noHealthReports, type HealthPart } from '../../kernel/ports/health.js'
import { algorithmOf, contentChecks, isDigest, nameOf, only } from './content-checks.js'

/** Where content is kept, by its digest. */
export const BLOBS = 'blobs/'
/** Content whose digest is not known yet. */
const INCOMING = 'incoming/'

const MIB = 1024 * 1024
/** Larger content is only sent if the bucket does not have it. */
const LARGE_BYTES = MIB
const MOST_PARTS = 10_000

/** Blobs as objects of a bucket, named by their digest. */
export const openBucketBlobStore = (bucket: Bucket, health = noHealthReports): BlobStore => {
  const { requireDigest, checked, isDamaged } = contentChecks(health)

  const reported = async <A>(part: HealthPart, work: Promise<A>): Promise<A> => {
    try {
      const done = await work
      health.report(part, null)
      return done
    } catch (cause) {
      const error =
        cause instanceof BucketUnavailable
          ? new BlobsUnavailable(`the bucket failed: ${cause.reason}`, { cause })
          : cause
      health.report(part, error)
      throw error
    }
  }

  const has = async (digest: string, size: number) =>
    !isDamaged(digest) && (await bucket.size(BLOBS + digest)) === size

  const store = async (content: Uint8Array, sha256: string, team?: string, digest = sha256) => {
    if (content.length > LARGE_BYTES && (await has(digest, content.length))) return digest
    await bucket.put(BLOBS + digest, content, sha256, team)
    requireDigest(digest, digest)
    return digest
  }

  /** Sent while it arrives, under a name of its own, and copied to its digest once that is known. */
  const putStream: BlobStore['putStream'] = async (source, limitBytes, team, copyOf) => {
    const partBytes = limitBytes > MOST_PARTS * 8 * MIB ? 16 * MIB : 8 * MIB
    const hash = createHash('sha256')
    let size = 0
    const counted = async function* () {
      for await (const chunk of source) {
        size += chunk.length
        if (size > limitBytes) throw new BlobTooLarge(limitBytes)
        hash.update(chunk)
        yield chunk
      }
    }
    const parts = inParts(counted(), partBytes)
    const first = await parts.next()
    const content = first.done === true ? new Uint8Array() : first.value
    if (content.length < partBytes) {
      const sha256 = hash.digest('hex')
      return { digest: await store(content, sha256, team, nameOf(sha256, copyOf)), size }
    }

    const incoming = INCOMING + randomUUID()
    const all = async function* () {
      yield content
      yield* parts
    }
    await bucket.upload(incoming, all(), team)
    const digest = nameOf(hash.digest('hex'), copyOf)
    try {
      if (!(await has(digest, size))) await bucket.copy(incoming, BLOBS + digest, size, team)
      requireDigest(digest, digest)
    } finally {
      // A lifecycle rule removes what stays.
      await bucket.delete(incoming).catch(() => undefined)
    }
    return { digest, size }
  }

  const get = async (digest: string) => {
    const content = await bucket.get(BLOBS + digest)
    if (content !== undefined) requireDigest(digest, await digestOf(content, algorithmOf(digest)))
    return content
  }

  const reading = async function* (chunks: AsyncIterable<Uint8Array>) {
    try {
      yield* chunks
    } catch (error) {
      await reported('blob-reads', Promise.reject(error as Error))
    }
  }

  return {
    direct: bucket.direct?.(BLOBS),
    put: (content, team) =>
      reported(
        'blobs',
        digestOf(content).then((digest) => store(content, digest, team)),
      ),
    putStream: (...asked) => reported('blobs', putStream(...asked)),
    get: async (digest) => (isDigest(digest) ? reported('blob-reads', get(digest)) : undefined),
    delete: async (digest) => {
      if (isDigest(digest)) await reported('blobs', bucket.delete(BLOBS + digest))
    },
    open: async (digest, range) => {
      if (!isDigest(digest)) return undefined
      const size = await reported('blob-reads', bucket.size(BLOBS + digest))
      if (size === undefined) return undefined
      if (size > CHUNK_BYTES) {
        const chunks = bucket.read(BLOBS + digest, range)
        return { size, chunks: reading(range === undefined ? checked(digest, chunks) : chunks) }
      }
      // Checked before anything is sent.
      const content = await reported('blob-reads', get(digest))
      return content && { size: content.length, chunks: only(content.subarray(range?.start, range?.end)) }
    },
  }
}

/** Parts of a size, except the last one. */
async function* inParts(source: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array, void> {
  let gathered: Uint8Array[] = []
  let size = 0
  for await (const chunk of source)
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + bytes - size)
      gathered.push(piece)
      size += piece.length
      at += piece.length
      if (size < bytes) continue
      yield Buffer.concat(gathered)
      gathered = []
      size = 0
    }
  if (size > 0) yield Buffer.concat(gathered)
}
