import { BlobsUnavailable } from '../../kernel/ports/blobs.js'

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
export const mapDiskErrors = async <A>(work: Promise<A>): Promise<A> => {
  try {
    return await work
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    throw OF_THE_DISK.has(code) ? new BlobsUnavailable(`blob storage failed (${code})`, { cause }) : cause
  }
}
