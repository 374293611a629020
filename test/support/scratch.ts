import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const directories = new Set<string>()
process.once('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

/** A directory of its own that is gone when this process ends. */
export const scratchDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-test-'))
  directories.add(directory)
  return directory
}
