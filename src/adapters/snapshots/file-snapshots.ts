import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from '../../kernel/private-files.js'
import { writeFileAtomic } from '../../kernel/atomic-file.js'

/** One file with mode 0600. */
export const fileSnapshots = (path: string): Snapshots => ({
  read: () => readFile(path, 'utf8').catch(() => undefined),
  write: async (text) => {
    await mkdir(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY })
    await writeFileAtomic(path, text, PRIVATE_FILE)
  },
})
