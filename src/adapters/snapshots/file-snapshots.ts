import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { writeFileAtomic } from '../../kernel/atomic-file.js'

/** One file with mode 0600. */
export const fileSnapshots = (path: string): Snapshots => ({
  read: () => readFile(path, 'utf8').catch(() => undefined),
  write: async (text) => {
    await mkdir(dirname(path), { recursive: true })
    await writeFileAtomic(path, text, 0o600)
  },
})
