import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Snapshots } from '../../domain/ports/snapshots.js'

/** One file, which is replaced whole. Several processes may write it: each has a file of its own until then. */
export const fileSnapshots = (path: string): Snapshots => ({
  read: () => readFile(path, 'utf8').catch(() => undefined),
  write: async (text) => {
    const beside = `${path}.${randomUUID()}`
    await mkdir(dirname(path), { recursive: true })
    try {
      const file = await open(beside, 'wx', 0o600)
      try {
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(beside, path)
    } catch (error) {
      await rm(beside, { force: true })
      throw error
    }
  },
})
