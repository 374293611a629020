import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makePrivateDirectory, PRIVATE_FILE } from '../../kernel/private-files.js'
import type { Spools } from '../../kernel/ports/spools.js'

const SUFFIX = '.spool'

const CHUNK_BYTES = 64 * 1024

/**
 * Spool files are unlinked once they are open, so that the system frees them when they are closed or the process ends.
 * Opening removes files that a crashed process left before unlinking. Several processes may share the directory.
 */
export const openFileSpools = (directory: string): Spools => {
  makePrivateDirectory(directory)
  for (const name of readdirSync(directory))
    if (name.endsWith(SUFFIX)) rmSync(join(directory, name), { force: true })

  return {
    open: async () => {
      const path = join(directory, `${randomUUID()}${SUFFIX}`)
      const file = await open(path, 'wx+', PRIVATE_FILE)
      await rm(path, { force: true })
      return {
        append: (bytes) => file.appendFile(bytes),
        async *read(offset, length) {
          for (let at = offset; at < offset + length;) {
            const most = Math.min(CHUNK_BYTES, offset + length - at)
            const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(most), 0, most, at)
            if (bytesRead === 0) throw new Error('a spool file is truncated')
            yield buffer.subarray(0, bytesRead)
            at += bytesRead
          }
        },
        close: () => file.close(),
      }
    },
  }
}
