import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const directories = new Set<string>()
process.once('exit', () => {
  for (const directory of directories)
    try {
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // An engine that still writes there while the process ends leaves some of it to the system.
    }
})

/** The directory is gone when this process ends. */
export const goneWithThisProcess = (directory: string): string => {
  directories.add(directory)
  return directory
}

/** A directory of its own that is gone when this process ends. */
export const scratchDirectory = async (): Promise<string> =>
  goneWithThisProcess(await mkdtemp(join(tmpdir(), 'tallytree-test-')))
