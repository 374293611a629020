import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { BlobStore } from '../../domain/ports/blobs.js'
import { onDisk } from './disk-errors.js'
import { durableDirectories } from './durable-directories.js'
import { writeChunks } from './write-chunks.js'

/**
 * Blobs as files, `directory/ab/cd/abcd…`. A blob gets its name when it is complete and synced: a file under
 * its digest is never half written, and writing it again changes nothing.
 *
 * One process a directory: what an earlier one left half written is removed here.
 */
export const openFileBlobStore = (directory: string): BlobStore => {
  const root = resolve(directory)
  const incoming = join(root, 'incoming')
  const directories = durableDirectories(root)
  rmSync(incoming, { recursive: true, force: true })
  mkdirSync(incoming, { recursive: true })

  /** Whether the blob is there, durably: whoever wrote it may have died before it had synced the directory. */
  const confirm = async (digest: string) => {
    const path = pathOf(root, digest)
    const isThere = (await stat(path).catch(undefinedWhenMissing)) !== undefined
    if (!isThere) return false
    await directories.sync(dirname(path))
    return true
  }

  const write: BlobStore['putStream'] = async (source, limitBytes) => {
    const incomplete = join(incoming, randomUUID())
    try {
      const file = await open(incomplete, 'wx')
      try {
        const stored = await writeChunks(file, source, limitBytes)
        const path = pathOf(root, stored.digest)
        await Promise.all([file.sync(), directories.make(dirname(path))])
        await rename(incomplete, path)
        await directories.sync(dirname(path))
        return stored
      } finally {
        await file.close()
      }
    } catch (error) {
      await rm(incomplete, { force: true })
      throw error
    }
  }

  const put = async (content: Uint8Array) => {
    const digest = createHash('sha256').update(content).digest('hex')
    return (await confirm(digest)) ? digest : (await write(only(content), content.length)).digest
  }

  return {
    put: (content) => onDisk(put(content)),
    putStream: (source, limitBytes) => onDisk(write(source, limitBytes)),
    get: async (digest) =>
      isDigest(digest) ? onDisk(readFile(pathOf(root, digest)).catch(undefinedWhenMissing)) : undefined,
    open: async (digest) => {
      if (!isDigest(digest)) return undefined
      const path = pathOf(root, digest)
      const found = await onDisk(stat(path).catch(undefinedWhenMissing))
      return found && { size: found.size, chunks: chunksOf(path) }
    },
  }
}

const isDigest = (digest: string) => /^[0-9a-f]{64}$/u.test(digest)

const pathOf = (root: string, digest: string) => join(root, digest.slice(0, 2), digest.slice(2, 4), digest)

async function* only(content: Uint8Array) {
  yield content
}

const CHUNK_BYTES = 256 * 1024

async function* chunksOf(path: string) {
  const file = await open(path, 'r')
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(CHUNK_BYTES), 0, CHUNK_BYTES, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

const undefinedWhenMissing = (error: unknown) => {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
