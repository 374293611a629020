import { readdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { LRUCache } from 'lru-cache'
import { BlobsUnavailable, type BlobStore } from '../../kernel/ports/blobs.js'
import type { HealthReports } from '../../kernel/ports/health.js'
import { isSha256, only } from './content-checks.js'
import { openFileBlobStore, pathOf } from './file-blob-store.js'

/** Larger content is passed through. It is read whole, so this also bounds memory. */
const LARGEST_BYTES = 4 * 1024 * 1024
/** Contents that are kept in memory while they are written to the cache. */
const MOST_FILLS = 16

/**
 * Keeps content that was read or written in files of this machine; the least recently used ones are deleted. Content never
 * changes, so a file is never stale. A cache that cannot be used is reported, and everything else works without it.
 */
export const openCachedBlobStore = (
  store: BlobStore,
  directory: string,
  maxBytes: number,
  health: HealthReports,
): BlobStore => {
  const failed = (cause: unknown) => {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : (cause as Error).message
    health.report('blob-cache', new BlobsUnavailable(`it cannot be written (${code})`, { cause }))
  }
  const opened = opening(() => openFileBlobStore(directory), failed)
  if (opened === undefined) return store
  const sizes = new LRUCache<string, number>({
    maxSize: maxBytes,
    sizeCalculation: (size) => Math.max(1, size),
    dispose: (_size, digest, reason) => {
      if (reason !== 'set') rm(pathOf(directory, digest), { force: true }).catch(failed)
    },
  })
  for (const { digest, size } of filesIn(directory)) sizes.set(digest, size)
  let fills = 0

  const fill = async (digest: string, content: Uint8Array) => {
    if (!isSha256(digest) || content.length > LARGEST_BYTES || fills >= MOST_FILLS || sizes.has(digest))
      return
    fills += 1
    try {
      await opened.put(content)
      sizes.set(digest, content.length)
      health.report('blob-cache', null)
    } catch (error) {
      failed(error)
    } finally {
      fills -= 1
    }
  }

  const get = async (digest: string) => {
    // Another process may have deleted or damaged the file.
    const kept = sizes.get(digest) && (await opened.get(digest).catch(() => undefined))
    if (kept instanceof Uint8Array) return kept
    sizes.delete(digest)
    const content = await store.get(digest)
    if (content !== undefined) void fill(digest, Uint8Array.from(content))
    return content
  }

  return {
    put: async (content, team) => {
      const digest = await store.put(content, team)
      void fill(digest, content)
      return digest
    },
    direct: store.direct,
    putStream: (...asked) => store.putStream(...asked),
    get,
    delete: async (digest) => {
      sizes.delete(digest)
      await store.delete(digest)
      await opened.delete(digest)
    },
    open: async (digest, range) => {
      if (sizes.has(digest)) {
        const content = await get(digest)
        return content && { size: content.length, chunks: only(content.subarray(range?.start, range?.end)) }
      }
      const blob = await store.open(digest, range)
      if (blob === undefined || range !== undefined || blob.size > LARGEST_BYTES) return blob
      const content = await buffer(blob.chunks)
      void fill(digest, Uint8Array.from(content))
      return { size: blob.size, chunks: only(content) }
    },
  }
}

const opening = <A>(open: () => A, failed: (error: unknown) => void): A | undefined => {
  try {
    return open()
  } catch (error) {
    failed(error)
    return undefined
  }
}

/** The least recently written first. */
const filesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isSha256(entry.name))
    .map(({ name, parentPath }) => ({
      digest: name,
      stat: statSync(join(parentPath, name), { throwIfNoEntry: false }),
    }))
    .sort((a, b) => (a.stat?.mtimeMs ?? 0) - (b.stat?.mtimeMs ?? 0))
    .map(({ digest, stat }) => ({ digest, size: stat?.size ?? 0 }))
