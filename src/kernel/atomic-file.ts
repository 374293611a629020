import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file as a whole, durably. Several processes may do so at the same time: the last one wins. */
export const writeFileAtomic = async (path: string, text: string, mode = 0o666): Promise<void> => {
  const temporary = `${path}.${randomUUID()}`
  try {
    const file = await open(temporary, 'wx', mode)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncDirectory(dirname(path))
}

/** The names in a directory survive a loss of power only once the directory itself was synced. */
export const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Opens a file whose name in its directory then survives a loss of power. */
export const openDurably = (path: string): number => {
  const directory = openSync(dirname(path), 'r')
  fsyncSync(directory)
  closeSync(directory)
  return openSync(path, 'r+')
}
