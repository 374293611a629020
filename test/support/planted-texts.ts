import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A text that no other file of this machine has. It ends with a random part. */
export const planted = (name: string): string => `${name}-${randomUUID()}`

const RANDOM_CHARACTERS = 36

const filesBelow = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name))

/** Empty for a file that was removed meanwhile. */
const contentOf = (file: string): Buffer => {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return Buffer.alloc(0)
  }
}

/**
 * The texts whose random part a file below one of the directories has, sorted. Compressed files of the engine have the first occurrence
 * of it as it is, because it repeats nothing.
 */
export const foundIn = (directories: readonly string[], texts: readonly string[]): readonly string[] => {
  const found = new Set<string>()
  for (const directory of directories)
    for (const file of filesBelow(directory)) {
      const content = contentOf(file)
      for (const text of texts) if (content.includes(text.slice(-RANDOM_CHARACTERS))) found.add(text)
    }
  return [...found].sort()
}
