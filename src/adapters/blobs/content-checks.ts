import { createHash } from 'node:crypto'
import { BlobDamaged, md5In } from '../../kernel/ports/blobs.js'
import type { HealthReports } from '../../kernel/ports/health.js'

export const isSha256 = (digest: string) => /^[0-9a-f]{64}$/u.test(digest)
export const isDigest = (digest: string) => isSha256(digest) || md5In(digest) !== undefined

export const algorithmOf = (digest: string) => (md5In(digest) === undefined ? 'sha256' : 'md5')

/** The name of content with this SHA-256. */
export const nameOf = (sha256: string, copyOf: string | undefined) =>
  copyOf === undefined || md5In(copyOf) === undefined ? sha256 : copyOf

export async function* only(content: Uint8Array) {
  yield content
}

/** Compares content with its digest, and reports what is damaged until it is found to be sound. */
export const contentChecks = (health: HealthReports) => {
  const damaged = new Set<string>()

  /** @throws BlobDamaged */
  const requireDigest = (digest: string, actual: string) => {
    const isSound = actual === digest || actual === md5In(digest)
    if (isSound ? damaged.delete(digest) : damaged.add(digest)) {
      const [one] = isSound ? damaged : [digest]
      health.report('blob-content', one === undefined ? null : new BlobDamaged(one, damaged.size - 1))
    }
    if (!isSound) throw new BlobDamaged(digest)
  }

  /** Holds the last chunk back until the digest is known. */
  const checked = async function* (digest: string, chunks: AsyncIterable<Uint8Array>) {
    const hash = createHash(algorithmOf(digest))
    let last: Uint8Array | undefined
    for await (const chunk of chunks) {
      hash.update(chunk)
      if (last !== undefined) yield last
      last = chunk
    }
    requireDigest(digest, hash.digest('hex'))
    if (last !== undefined) yield last
  }

  return { requireDigest, checked, isDamaged: (digest: string) => damaged.has(digest) }
}
