import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a directory, with those above it. Node's own way of doing so never returns where a directory is there and takes
 * no others, as `/proc` does.
 *
 * @throws the system's error where it cannot be made
 */
export const makeDirectory = (path: string): void => {
  try {
    mkdirSync(path)
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
    makeDirectory(dirname(path))
    mkdirSync(path)
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined)
