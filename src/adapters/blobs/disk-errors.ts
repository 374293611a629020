import { BlobsUnavailable } from '../../domain/ports/blobs.js'

/** What a disk says that is full, fails, may not be used, or was taken away. A source that breaks off says something else. */
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

/** Rejects with the port's error where the disk is to blame. */
export const onDisk = async <A>(work: Promise<A>): Promise<A> => {
  try {
    return await work
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    throw OF_THE_DISK.has(code) ? new BlobsUnavailable(`blob storage failed (${code})`, { cause }) : cause
  }
}
