import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryDirectory {
  readonly path: string
  readonly remove: () => Promise<void>
}

export const temporaryDirectory = async (): Promise<TemporaryDirectory> => {
  const path = await mkdtemp(join(tmpdir(), 'tallytree-stores-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
