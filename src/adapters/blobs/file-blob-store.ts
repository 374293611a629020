import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import {
  BlobsUnavailable,
  BlobTooLarge,
  type BlobRange,
  type BlobStore,
  type StoredBlob,
} from '../../kernel/ports/blobs.js'
import { makePrivateDirectory, PRIVATE_FILE } from '../../kernel/private-files.js'
import { noHealthReports } from '../../kernel/ports/health.js'
import { CHUNK_BYTES, digestOf } from '../../kernel/content-digest.js'
import { algorithmOf, contentChecks, isDigest, nameOf, only } from './content-checks.js'
import { durableDirectories } from './durable-directories.js'

/**
 * Blobs are files named by digest, `directory/ab/cd/abcd…`. A file gets its name once it is complete and synced, so a
 * blob is never partial and writing it again changes nothing.
 *
 * Several processes may share the directory, so opening only removes incomplete files that are a day old.
 */
export const openFileBlobStore = (directory: string, health = noHealthReports): BlobStore => {
  const root = resolve(directory)
  const incoming = join(root, 'incoming')
  const directories = durableDirectories(root)
  for (const path of [root, incoming]) makePrivateDirectory(path)
  removeAbandoned(incoming)

  const { requireDigest, checked, isDamaged } = contentChecks(health)

  const get = async (digest: string) => {
    const content = await readFile(pathOf(root, digest)).catch(undefinedWhenMissing)
    if (content !== undefined) requireDigest(digest, await digestOf(content, algorithmOf(digest)))
    return content
  }

  /**
   * Checks that the blob exists and makes it durable, because the process that wrote it may have crashed before syncing
   * the directory.
   */
  const confirm = async (digest: string, size: number) => {
    const path = pathOf(root, digest)
    const found = await stat(path).catch(undefinedWhenMissing)
    if (found?.size !== size || isDamaged(digest)) return false
    await directories.sync(dirname(path))
    return true
  }

  const write: BlobStore['putStream'] = async (source, limitBytes, _team, copyOf) => {
    const incomplete = join(incoming, randomUUID())
    try {
      const file = await open(incomplete, 'wx', PRIVATE_FILE)
      try {
        const { digest: sha256, size } = await writeChunks(file, source, limitBytes)
        const stored = { digest: nameOf(sha256, copyOf), size }
        const path = pathOf(root, stored.digest)
        await Promise.all([file.sync(), directories.make(dirname(path))])
        await rename(incomplete, path)
        await directories.sync(dirname(path))
        requireDigest(stored.digest, stored.digest)
        return stored
      } finally {
        await file.close()
      }
    } catch (error) {
      await rm(incomplete, { force: true })
      throw error
    }
  }

  const reported = async <A>(writing: Promise<A>): Promise<A> => {
    try {
      const stored = await writing
      health.report('blobs', null)
      return stored
    } catch (error) {
      health.report('blobs', error)
      throw error
    }
  }

  const put = async (content: Uint8Array) => {
    // Hashed piece by piece while it is written: hashing 20 MB at once blocks the event loop for 30 ms.
    if (content.length > LARGE_BYTES) return (await write(slicesOf(content), content.length)).digest
    const digest = createHash('sha256').update(content).digest('hex')
    return (await confirm(digest, content.length))
      ? digest
      : (await write(only(content), content.length)).digest
  }

  return {
    put: (content) => reported(mapDiskErrors(put(content))),
    putStream: (...asked) => reported(mapDiskErrors(write(...asked))),
    get: async (digest) => (isDigest(digest) ? mapDiskErrors(get(digest)) : undefined),
    delete: async (digest) => {
      if (isDigest(digest)) await mapDiskErrors(rm(pathOf(root, digest), { force: true }))
    },
    open: async (digest, range) => {
      if (!isDigest(digest)) return undefined
      const path = pathOf(root, digest)
      const found = await mapDiskErrors(stat(path).catch(undefinedWhenMissing))
      if (found === undefined) return undefined
      const { size } = found
      if (range !== undefined && size > CHUNK_BYTES) return { size, chunks: chunksOf(path, range) }
      if (size > CHUNK_BYTES)
        return { size, chunks: checked(digest, chunksOf(path, { start: 0, end: size })) }
      // Checked before anything is sent.
      const content = await mapDiskErrors(get(digest))
      return content && { size: content.length, chunks: only(content.subarray(range?.start, range?.end)) }
    },
  }
}

/** An upload in progress keeps the modification time of its file recent. */
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000

const removeAbandoned = (incoming: string) => {
  for (const name of readdirSync(incoming)) {
    const path = join(incoming, name)
    // Another process may complete or remove the file at the same time.
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    if (modified !== undefined && Date.now() - modified > ABANDONED_AFTER_MS) rmSync(path, { force: true })
  }
}

export const pathOf = (root: string, digest: string) =>
  join(root, digest.slice(0, 2), digest.slice(2, 4), digest)

const LARGE_BYTES = 4 * CHUNK_BYTES

async function* slicesOf(content: Uint8Array) {
  for (let at = 0; at < content.length; at += CHUNK_BYTES) yield content.subarray(at, at + CHUNK_BYTES)
}

async function* chunksOf(path: string, { start, end }: BlobRange) {
  const file = await open(path, 'r')
  try {
    for (let at = start; at < end;) {
      const wanted = Math.min(CHUNK_BYTES, end - at)
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, at)
      if (bytesRead === 0) return
      at += bytesRead
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

/** Error codes of the file system, as opposed to those of a source stream that fails. */
const OF_THE_DISK = new Set([
  'EACCES',
  'EDQUOT',
  'EFBIG',
  'EIO',
  'ELOOP',
  'EMFILE',
  'ENFILE',
  'ENOENT',
  'ENOSPC',
  'ENOTDIR',
  'EPERM',
  'EROFS',
  'ESTALE',
])

/** Maps errors of the file system to the error of the port. */
const mapDiskErrors = async <A>(work: Promise<A>): Promise<A> => {
  try {
    return await work
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    throw OF_THE_DISK.has(code) ? new BlobsUnavailable(`blob storage failed (${code})`, { cause }) : cause
  }
}

/** Streams chunks to a file and returns their size and digest. */
const writeChunks = async (
  file: FileHandle,
  source: AsyncIterable<Uint8Array>,
  limitBytes: number,
): Promise<StoredBlob> => {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    if (size > limitBytes) throw new BlobTooLarge(limitBytes)
    hash.update(chunk)
    await file.writeFile(chunk)
  }
  return { digest: hash.digest('hex'), size }
}
