import { createHash } from 'node:crypto'
import { BlobTooLarge, type BlobRange, type BlobStore } from '../../kernel/ports/blobs.js'
import { nameOf } from './content-checks.js'

/** For tests. */
export const openInMemoryBlobStore = (): BlobStore => {
  const blobs = new Map<string, Uint8Array>()

  const keep = (content: Uint8Array, copyOf?: string): string => {
    const digest = nameOf(createHash('sha256').update(content).digest('hex'), copyOf)
    blobs.set(digest, content)
    return digest
  }

  return {
    put: async (content) => keep(Uint8Array.from(content)),
    putStream: async (source, limitBytes, _team, copyOf) => {
      const chunks: Uint8Array[] = []
      let size = 0
      for await (const chunk of source) {
        size += chunk.length
        if (size > limitBytes) throw new BlobTooLarge(limitBytes)
        chunks.push(Uint8Array.from(chunk))
      }
      return { digest: keep(Buffer.concat(chunks), copyOf), size }
    },
    get: async (digest) => {
      const content = blobs.get(digest)
      return content && Uint8Array.from(content)
    },
    delete: async (digest) => void blobs.delete(digest),
    open: async (digest, range) => {
      const content = blobs.get(digest)
      return content && { size: content.length, chunks: copyOf(content, range) }
    },
  }
}

async function* copyOf(content: Uint8Array, range?: BlobRange) {
  yield Uint8Array.from(content.subarray(range?.start, range?.end))
}
