import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PRIVATE_DIRECTORY } from '../../kernel/private-files.js'
import { syncDirectory } from '../../kernel/atomic-file.js'

export interface DurableDirectories {
  /** Creates a directory and its ancestors. */
  readonly make: (path: string) => Promise<void>
  /** Makes the names in a directory durable, and its own name and those of its ancestors up to the root. */
  readonly sync: (path: string) => Promise<void>
}

/**
 * Directories below `root`. Each process syncs even existing names once, because the process that created them may have
 * crashed before its sync. Concurrent callers share the sync of a name, and all syncs of a path run in parallel, which
 * the file system merges.
 */
export const durableDirectories = (root: string): DurableDirectories => {
  const make = once(async (path) => {
    await mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY })
  })
  const syncName = once(async (path) => {
    await Promise.all([syncDirectory(dirname(path)), ...(path === root ? [] : [syncName(dirname(path))])])
  })
  return {
    make,
    sync: async (path) => {
      await Promise.all([syncDirectory(path), syncName(path)])
    },
  }
}

/** Runs a task once per path, and again after a failure. */
const once = (task: (path: string) => Promise<void>) => {
  const known = new Map<string, Promise<void>>()
  return (path: string): Promise<void> => {
    const running = known.get(path) ?? task(path)
    known.set(path, running)
    running.catch(() => known.delete(path))
    return running
  }
}
