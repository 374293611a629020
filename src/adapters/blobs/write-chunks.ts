import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { BlobTooLarge, type StoredBlob } from '../../kernel/ports/blobs.js'

/** Streams chunks to a file and returns their size and digest. */
export const writeChunks = async (
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
