import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const NEEDED_BYTES = 4e9

const freeBytes = (): number => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize
  } catch {
    return 0
  }
}

// Temporary files are in memory where there is enough: on a disk, fsync is most of what a write costs, and no test cuts
// the power. Workers and child processes inherit the directory.
if (process.env['MOCHA_WORKER_ID'] === undefined && freeBytes() > NEEDED_BYTES) {
  const directory = mkdtempSync(join(MEMORY, 'tallytree-'))
  process.env['TMPDIR'] = directory
  process.once('exit', () => {
    try {
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // An engine may still write there while its process ends.
    }
  })
}
