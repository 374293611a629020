import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '../../runtime/atomic-file.js'

export interface DurableDirectories {
  /** Makes a directory, with those above it. */
  readonly make: (path: string) => Promise<void>
  /** Makes the names in a directory durable, and those of the directory itself and of all above it up to the root. */
  readonly sync: (path: string) => Promise<void>
}

/**
 * Directories below `root`. The name of one that is there already is synced once more by each process: it may have
 * been made by one that died before it could. Callers that come together wait for the same sync of a name, and all
 * syncs that a path needs run at once: the file system makes one of them.
 */
export const durableDirectories = (root: string): DurableDirectories => {
  const make = once(async (path) => {
    await mkdir(path, { recursive: true })
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

/** Runs a task once for each path; one that failed is run again when it is asked for again. */
const once = (task: (path: string) => Promise<void>) => {
  const known = new Map<string, Promise<void>>()
  return (path: string): Promise<void> => {
    const running = known.get(path) ?? task(path)
    known.set(path, running)
    running.catch(() => known.delete(path))
    return running
  }
}
