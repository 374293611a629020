import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The names in a directory survive a loss of power only once the directory itself was synced. */
export const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/**
 * Makes directories below `root`, durably. One that is there already is synced once more by each process: it may
 * have been made by one that died before it could. Callers that come together wait for the same sync.
 */
export const durableDirectories = (root: string): ((path: string) => Promise<void>) => {
  const made = new Map<string, Promise<void>>()

  const make = async (path: string): Promise<void> => {
    const parent = dirname(path)
    if (path !== root) await ensure(parent)
    await mkdir(path, { recursive: path === root }).catch(unlessItExists)
    await syncDirectory(parent)
  }

  const ensure = (path: string): Promise<void> => {
    const known = made.get(path)
    if (known !== undefined) return known
    const making = make(path)
    made.set(path, making)
    making.catch(() => made.delete(path))
    return making
  }

  return ensure
}

const unlessItExists = (error: unknown) => {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}
